//! The user of URL mode: one GET per iteration, then a time to think.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::meter::Meter;
use crate::user::{Answer, Ask, Ending, ExpectedStatuses, Nursery, Request, User, UserError, UserFactory};

/// Users that GET `url` and then think for `think`.
pub fn url_users(url: impl Into<String>, think: Duration) -> Arc<dyn UserFactory> {
    Arc::new(UrlUsers { url: url.into(), think })
}

struct UrlUsers {
    url: String,
    think: Duration,
}

impl UserFactory for UrlUsers {
    fn nursery(&self, _: usize, _: Rc<Meter>) -> Result<Box<dyn Nursery>, UserError> {
        Ok(Box::new(UrlNursery { url: self.url.clone(), think: self.think, expected: ExpectedStatuses::default() }))
    }
}

struct UrlNursery {
    url: String,
    think: Duration,
    expected: ExpectedStatuses,
}

impl UrlNursery {
    fn make(&self) -> Box<dyn User> {
        let (url, think, expected) = (self.url.clone(), self.think, self.expected.clone());
        Box::new(UrlUser { url, think, expected })
    }
}

impl Nursery for UrlNursery {
    fn user(&mut self, _: u32) -> Result<Box<dyn User>, UserError> {
        Ok(self.make())
    }

    fn setup(&mut self) -> Result<Box<dyn User>, UserError> {
        Err(UserError { message: "a URL has no setup".to_owned() })
    }

    fn teardown(&mut self) -> Result<Box<dyn User>, UserError> {
        Err(UserError { message: "a URL has no teardown".to_owned() })
    }
}

struct UrlUser {
    url: String,
    think: Duration,
    expected: ExpectedStatuses,
}

impl User for UrlUser {
    fn resume(&mut self, answer: Answer) -> Ask {
        match answer {
            Answer::Begin(assignment, _) => {
                let expected = Some(self.expected.clone());
                Ask::Http(Box::new(Request { expected, ..Request::get(self.url.clone(), assignment.tags) }))
            }
            Answer::Response(_) if !self.think.is_zero() => Ask::Sleep(self.think),
            Answer::Response(_) | Answer::Slept => Ask::Done(Ending::Completed),
            Answer::Cancel | Answer::Responses(_) | Answer::Grpc(_) | Answer::Noted | Answer::Event(..) => {
                Ask::Done(Ending::Interrupted)
            }
        }
    }
}
