//! Groups URLs that differ only in ids, so that a run over a million users counts under one endpoint.

use url::Url;

/// The URL with ids in its path as `{id}` and values of its query as `{}`; without user, password and fragment.
pub(crate) fn grouped(url: &Url) -> String {
    let mut name = format!("{}://{}", url.scheme(), authority(url));
    for segment in url.path().split('/').skip(1) {
        name.push('/');
        name.push_str(if is_id(segment) { "{id}" } else { segment });
    }
    let keys = url.query().into_iter().flat_map(|query| query.split('&'));
    for (index, pair) in keys.filter(|pair| !pair.is_empty()).enumerate() {
        name.push(if index == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            Some((key, _)) => name.extend([key, "={}"]),
            None => name.push_str(if is_id(pair) { "{}" } else { pair }),
        }
    }
    name
}

/// The URL as it was meant, without user, password and fragment.
pub(crate) fn plain(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    if !url.username().is_empty() {
        url.set_username("****").expect("an HTTP URL can have a user");
    }
    if url.password().is_some() {
        url.set_password(Some("****")).expect("an HTTP URL can have a password");
    }
    url.into()
}

/// The URL of an example for people: user info and the values of parameters that look like secrets are masked.
pub(crate) fn masked(url: &Url) -> String {
    const SECRETS: [&str; 10] =
        ["token", "key", "password", "passwd", "pwd", "secret", "auth", "credential", "session", "signature"];
    let secret = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        SECRETS.iter().any(|word| name.contains(word))
    };
    let mask = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() && secret(pair) => format!("{name}=****"),
        _ => pair.to_owned(),
    };
    let mut masked = url.clone();
    if let Some(query) = url.query() {
        masked.set_query(Some(&query.split('&').map(mask).collect::<Vec<_>>().join("&")));
    }
    plain(&masked)
}

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn is_id(segment: &str) -> bool {
    let count = |wanted: fn(&u8) -> bool| segment.bytes().filter(&wanted).count();
    let digits = count(u8::is_ascii_digit);
    if segment.is_empty() || digits == 0 {
        return false;
    }
    if digits == segment.len() {
        return true;
    }
    if segment.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        return segment.len() >= 8;
    }
    let code = segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=".contains(&byte));
    let mixed = count(u8::is_ascii_uppercase) > 0 && count(u8::is_ascii_lowercase) > 0;
    code && segment.len() >= 16 && (mixed || digits * 4 >= segment.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_grouped_and_words_are_not() {
        let check = |path: &str, expected: &str| {
            let url = Url::parse(&format!("http://user:secret@host:8080{path}#part")).unwrap();
            assert_eq!(grouped(&url), format!("http://host:8080{expected}"));
        };
        check("/uuid/17", "/uuid/{id}");
        check("/", "/");
        check("/v1/users/4f6c2d1e-0b7a-4c1f-9d2e-1a2b3c4d5e6f/cart", "/v1/users/{id}/cart");
        check("/blob/e3b0c44298fc1c149afbf4c8996fb924", "/blob/{id}");
        check("/t/dGhpcyBpcyBhIHRva2Vu12", "/t/{id}");
        check("/deadbeef/facade/oauth2", "/deadbeef/facade/oauth2");
        check("/search?q=a%20b&page=2&flag", "/search?q={}&page={}&flag");
        check("/bootstrap-5.3.0.min.js", "/bootstrap-5.3.0.min.js");
    }

    #[test]
    fn examples_show_no_secrets() {
        let check = |url: &str, expected: &str| assert_eq!(masked(&Url::parse(url).unwrap()), expected);
        check("http://ann:pw@h/a?page=2&Access_Token=abc&q=x", "http://****:****@h/a?page=2&Access_Token=****&q=x");
        check("http://h/?api-key=1=2&x-auth&password=", "http://h/?api-key=****&x-auth&password=");
        check("http+unix://%2Fa.sock/?secret=1", "http+unix://%2Fa.sock/?secret=****");
    }

    #[test]
    fn secrets_do_not_reach_tags() {
        let url = Url::parse("https://ann:secret@host/a#b").unwrap();
        assert_eq!(plain(&url), "https://****:****@host/a");
    }
}
