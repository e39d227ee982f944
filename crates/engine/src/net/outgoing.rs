//! What is sent: the head of a request with all that k6 adds to the headers of the script.

use std::rc::Rc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, HOST, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method};
use http_body_util::Full;

use super::cookies::SharedJar;
use super::target::Target;

/// One hop of a request.
pub(crate) struct Outgoing<'a> {
    pub(crate) method: Method,
    pub(crate) target: Rc<Target>,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: Bytes,
    /// Cookies of this request alone: name, value, whether it replaces one of the jar.
    pub(crate) cookies: &'a [(String, String, bool)],
    pub(crate) keep_body: bool,
}

/// What every request of a run is given.
pub(crate) struct Defaults {
    pub(crate) user_agent: Option<HeaderValue>,
    pub(crate) close: bool,
}

impl Outgoing<'_> {
    /// Whether sending it twice is as good as once.
    pub(crate) fn repeatable(&self) -> bool {
        self.body.is_empty() && self.method.is_safe()
    }

    /// The request as hyper takes it.
    pub(crate) fn encode(&self, defaults: &Defaults, jar: &SharedJar) -> http::Request<Full<Bytes>> {
        let mut request = http::Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.target.uri.clone();
        let headers = request.headers_mut();
        if !self.headers.contains_key(HOST) {
            headers.insert(HOST, self.target.host_header.clone());
        }
        // The length is known better here than in the script.
        for (name, value) in self.headers.iter().filter(|(name, _)| *name != CONTENT_LENGTH) {
            headers.append(name.clone(), value.clone());
        }
        // hyper writes the length of a body that there is. Some servers refuse a POST that says nothing of its length.
        if self.body.is_empty() && matches!(self.method, Method::POST | Method::PUT | Method::PATCH) {
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let cookies = self.cookie_header(jar, headers.get(COOKIE));
        for (name, value) in [(USER_AGENT, &defaults.user_agent), (AUTHORIZATION, &self.target.authorization)] {
            if let Some(value) = value.as_ref().filter(|_| !headers.contains_key(&name)) {
                headers.insert(name, value.clone());
            }
        }
        if let Some(cookies) = cookies {
            headers.insert(COOKIE, cookies);
        }
        if defaults.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        request
    }

    /// Names and values of all cookies, those of the request alone first.
    pub(crate) fn pairs(&self, jar: &SharedJar) -> Vec<(String, String)> {
        let own = self.cookies.iter().map(|(name, value, _)| (name.clone(), value.clone()));
        let replaced = |name: &str| self.cookies.iter().any(|(own, _, replaces)| *replaces && own == name);
        let kept = jar.matching(&self.target.url).into_iter().filter(|(name, _)| !replaced(name));
        own.chain(kept).collect()
    }

    fn cookie_header(&self, jar: &SharedJar, own: Option<&HeaderValue>) -> Option<HeaderValue> {
        if jar.is_empty() && self.cookies.is_empty() {
            return None;
        }
        let pairs = self.pairs(jar).into_iter();
        let own = own.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let pairs = pairs.map(|(name, value)| {
            if value.contains([' ', ',']) { format!("{name}=\"{value}\"") } else { format!("{name}={value}") }
        });
        let all: Vec<String> = own.into_iter().chain(pairs).collect();
        HeaderValue::try_from(all.join("; ")).ok().filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    #[test]
    fn cookies_of_the_request_join_or_replace_those_of_the_jar() {
        let url = Url::parse("http://h/").unwrap();
        let jar = SharedJar::default();
        jar.store("a=1", &url);
        jar.store("b=\"2 3\"", &url);
        let plan = crate::net::tests::plan(model::plan::HttpSettings::default());
        let target = Rc::new(Target::parse("http://h/", &crate::meter::Meter::new(plan)).unwrap());
        let cookies = [("a".to_owned(), "x".to_owned(), true), ("b".to_owned(), "y".to_owned(), false)];
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("77"));
        let mut outgoing = Outgoing {
            method: Method::GET,
            target,
            headers: &headers,
            body: Bytes::new(),
            cookies: &cookies,
            keep_body: false,
        };
        let request = outgoing.encode(&Defaults { user_agent: None, close: true }, &jar);
        assert_eq!(request.headers()[COOKIE], "a=x; b=y; b=\"2 3\"");
        assert_eq!(request.headers()[CONNECTION], "close");
        assert!(!request.headers().contains_key(CONTENT_LENGTH));
        outgoing.method = Method::POST;
        let request = outgoing.encode(&Defaults { user_agent: None, close: true }, &jar);
        assert_eq!(request.headers()[CONTENT_LENGTH], "0");
    }
}
