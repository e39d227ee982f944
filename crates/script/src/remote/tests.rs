//! What is kept, what is pinned, and what is refused.

use std::sync::Mutex;

use super::*;

/// A server of one text that can change, and how often it was asked.
struct Stage {
    folder: tempfile::TempDir,
    answer: Arc<Mutex<Result<Vec<u8>, String>>>,
    asked: Arc<Mutex<usize>>,
}

impl Stage {
    fn new(text: &str) -> Self {
        let answer = Arc::new(Mutex::new(Ok(text.as_bytes().to_vec())));
        Self { folder: tempfile::tempdir().unwrap(), answer, asked: Arc::default() }
    }

    fn get(&self, url: &str, network: Network) -> Result<String, String> {
        let (answer, asked) = (self.answer.clone(), self.asked.clone());
        let fetch: Fetch = Arc::new(move |_: &Url| {
            *asked.lock().unwrap() += 1;
            answer.lock().unwrap().clone()
        });
        let settings = ModuleSettings { fetch: Some(fetch), cache: Some(self.folder.path().join("cache")), network };
        let mut remote = Remote::new(&self.folder.path().join("script.js"), &settings);
        let text = remote.text(&Url::parse(url).unwrap()).map_err(|error| error.to_string())?;
        assert_eq!(remote.finish(), None);
        Ok(text)
    }

    fn lock(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join(LOCK)).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    }
}

const URL: &str = "https://example.org/lib.js";

#[test]
fn what_was_fetched_once_needs_no_network() {
    let stage = Stage::new("export const a = 1;");
    let error = stage.get(URL, Network::Never).unwrap_err();
    assert!(error.contains(URL) && error.contains("offline"), "{error}");
    for network in [Network::WhenNeeded, Network::WhenNeeded, Network::Never] {
        assert_eq!(stage.get(URL, network).unwrap(), "export const a = 1;");
    }
    assert_eq!(*stage.asked.lock().unwrap(), 1);
    assert_eq!(stage.lock(), format!("{} {URL}", hash(b"export const a = 1;")));
}

#[test]
fn a_text_that_changed_is_noticed_and_accepted_only_on_demand() {
    let stage = Stage::new("1");
    stage.get(URL, Network::WhenNeeded).unwrap();
    *stage.answer.lock().unwrap() = Ok(b"2".to_vec());
    std::fs::remove_dir_all(stage.folder.path().join("cache")).unwrap();
    let error = stage.get(URL, Network::WhenNeeded).unwrap_err();
    assert!(error.contains("has changed") && error.contains("--refresh-modules"), "{error}");
    assert_eq!(stage.get(URL, Network::Refresh).unwrap(), "2");
    assert_eq!(stage.get(URL, Network::Never).unwrap(), "2");
    assert!(stage.lock().starts_with(&hash(b"2")));
}

#[test]
fn a_spoilt_cache_is_not_believed() {
    let stage = Stage::new("1");
    stage.get(URL, Network::WhenNeeded).unwrap();
    std::fs::write(stage.folder.path().join("cache").join(hash(b"1")), "evil").unwrap();
    assert_eq!(stage.get(URL, Network::WhenNeeded).unwrap(), "1");
    assert_eq!(*stage.asked.lock().unwrap(), 2);
}

#[test]
fn wrong_answers_are_named() {
    let stage = Stage::new("\n<!DOCTYPE html><p>");
    assert!(stage.get(URL, Network::WhenNeeded).unwrap_err().contains("not JavaScript: it begins with `<!DOCTYPE"));
    *stage.answer.lock().unwrap() = Ok(vec![0xff, 0xfe]);
    assert!(stage.get(URL, Network::WhenNeeded).unwrap_err().contains("no text in UTF-8"));
    *stage.answer.lock().unwrap() = Err("the server answered 404".to_owned());
    assert_eq!(
        stage.get(URL, Network::WhenNeeded).unwrap_err(),
        format!("cannot import {URL}: the server answered 404")
    );
    let error = stage.get("http://example.org/lib.js", Network::WhenNeeded).unwrap_err();
    assert!(error.contains("must come by https://"), "{error}");
    assert!(stage.get("http://127.0.0.1/lib.js", Network::WhenNeeded).unwrap_err().contains("404"));
    std::fs::write(stage.folder.path().join(LOCK), "nonsense").unwrap();
    assert!(stage.get(URL, Network::WhenNeeded).unwrap_err().contains("plimsoll.lock:1: not a line"));
}
