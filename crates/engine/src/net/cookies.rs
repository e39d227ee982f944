//! The cookies of one user, after RFC 6265: domain, path, `Secure`, `Max-Age` and `Expires`. `HttpOnly` and `SameSite`
//! say nothing to a client without pages.

use std::cell::RefCell;
use std::rc::Rc;

use url::Url;

use crate::clock::Clock;

/// A cookie jar that a user and the engine share.
#[derive(Clone, Debug, Default)]
pub struct SharedJar(Rc<RefCell<Jar>>);

impl SharedJar {
    /// Takes a cookie, written as a `Set-Cookie` header, as if it came from `url`. One that may not come from there is
    /// left out.
    pub fn store(&self, header: &str, url: &Url) {
        self.0.borrow_mut().store(header, url, Clock::calendar_seconds());
    }

    /// Names and values for a request to `url`; those of longer paths first.
    pub fn matching(&self, url: &Url) -> Vec<(String, String)> {
        let jar = self.0.borrow();
        if jar.is_empty() { Vec::new() } else { jar.matching(url, Clock::calendar_seconds()) }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }
}

/// Seconds since 1970 of a cookie's date such as `Wed, 21 Oct 2026 07:28:00 GMT`; `None` if it is none.
pub fn cookie_date(text: &str) -> Option<u64> {
    date(text)
}

/// A cookie jar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jar {
    cookies: Vec<Cookie>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    host_only: bool,
    path: String,
    secure: bool,
    expires: Option<u64>,
}

impl Jar {
    /// How many cookies one jar keeps; the oldest goes first.
    const MAX: usize = 300;

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Takes a `Set-Cookie` header that came from `url` at `now` (seconds since 1970).
    pub(crate) fn store(&mut self, header: &str, url: &Url, now: u64) {
        let Some(cookie) = parse(header, url, now) else { return };
        let same =
            |known: &Cookie| known.name == cookie.name && known.domain == cookie.domain && known.path == cookie.path;
        self.cookies.retain(|known| !same(known));
        if cookie.expires.is_none_or(|expires| expires > now) {
            if self.cookies.len() >= Self::MAX {
                self.cookies.remove(0);
            }
            self.cookies.push(cookie);
        }
    }

    /// Names and values for a request to `url`; longer paths first.
    pub(crate) fn matching(&self, url: &Url, now: u64) -> Vec<(String, String)> {
        let host = url.host_str().unwrap_or_default();
        let holds = |cookie: &&Cookie| {
            let domain = cookie.domain == host || !cookie.host_only && is_below(host, &cookie.domain);
            let secure = !cookie.secure || url.scheme() == "https";
            let alive = cookie.expires.is_none_or(|expires| expires > now);
            domain && secure && alive && path_matches(url.path(), &cookie.path)
        };
        let mut found: Vec<&Cookie> = self.cookies.iter().filter(holds).collect();
        found.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        found.into_iter().map(|cookie| (cookie.name.clone(), cookie.value.clone())).collect()
    }
}

fn parse(header: &str, url: &Url, now: u64) -> Option<Cookie> {
    let mut parts = header.split(';').map(str::trim);
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return None;
    }
    let host = url.host_str()?;
    let mut cookie = Cookie {
        name: name.to_owned(),
        value: value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(value).to_owned(),
        domain: host.to_owned(),
        host_only: true,
        path: default_path(url.path()),
        secure: false,
        expires: None,
    };
    let mut max_age = None;
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "domain" => {
                let domain = value.trim().trim_start_matches('.').to_ascii_lowercase();
                if domain.is_empty() {
                    continue;
                }
                if domain != host && !(is_below(host, &domain) && domain.contains('.')) {
                    return None;
                }
                cookie.host_only = domain == host && url.domain().is_none();
                cookie.domain = domain;
            }
            "path" if value.trim().starts_with('/') => value.trim().clone_into(&mut cookie.path),
            "secure" => cookie.secure = true,
            "max-age" => max_age = value.trim().parse::<i64>().ok(),
            "expires" => cookie.expires = date(value).or(cookie.expires),
            _ => {}
        }
    }
    if let Some(seconds) = max_age {
        cookie.expires = Some(u64::try_from(seconds).map_or(0, |seconds| if seconds == 0 { 0 } else { now + seconds }));
    }
    Some(cookie)
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')) && host.parse::<std::net::IpAddr>().is_err()
}

fn path_matches(path: &str, cookie: &str) -> bool {
    path == cookie || path.strip_prefix(cookie).is_some_and(|rest| cookie.ends_with('/') || rest.starts_with('/'))
}

fn default_path(path: &str) -> String {
    match path.rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(last) => path[..last].to_owned(),
    }
}

/// A date such as `Wed, 21 Oct 2026 07:28:00 GMT` in seconds since 1970; dashes instead of spaces are taken as well.
fn date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let words: Vec<&str> = text.split([' ', '-', ',']).filter(|word| !word.is_empty()).collect();
    let [day, month, year, time] = *words.get(1..5)? else { return None };
    let month = 1 + MONTHS.iter().position(|name| month.to_ascii_lowercase().starts_with(name))? as i64;
    let (day, year) = (day.parse::<i64>().ok()?, year.parse::<i64>().ok()?);
    let year = if year < 70 {
        year + 2000
    } else if year < 100 {
        year + 1900
    } else {
        year
    };
    let mut clock = time.split(':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (clock.next()??, clock.next()??, clock.next()??);
    // Days since 1970 of a Gregorian date, with the year beginning in March so that leap days come last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(u64::try_from(days * 86_400 + hours * 3600 + minutes * 60 + seconds).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(headers: &[&str], from: &str, to: &str, now: u64) -> String {
        let mut jar = Jar::default();
        headers.iter().for_each(|header| jar.store(header, &Url::parse(from).unwrap(), 1000));
        let found = jar.matching(&Url::parse(to).unwrap(), now);
        found.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn cookies_go_where_domain_and_path_say() {
        let check = |header: &str, to: &str| !sent(&[header], "http://www.shop.example/a/b", to, 1000).is_empty();
        assert!(check("k=v", "http://www.shop.example/a/c"));
        assert!(!check("k=v", "http://www.shop.example/b"));
        assert!(!check("k=v", "http://shop.example/a/b"));
        assert!(check("k=v; Domain=shop.example; Path=/", "http://api.shop.example/"));
        assert!(!check("k=v; Domain=other.example; Path=/", "http://other.example/"));
        assert!(!check("k=v; Domain=example; Path=/", "http://www.shop.example/"));
        assert!(!check("k=v; Path=/; Secure", "http://www.shop.example/"));
        assert!(check("k=v; Path=/; Secure", "https://www.shop.example/"));
    }

    #[test]
    fn cookies_end_by_age_and_date() {
        let check = |header: &str, now| sent(&[header], "http://h/", "http://h/", now);
        assert_eq!(check("k=\"v\"; Max-Age=10", 1009), "k=v");
        assert_eq!(check("k=v; Max-Age=10", 1010), "");
        assert_eq!(check("k=v; Max-Age=-1", 1000), "");
        assert_eq!(check("k=v; Expires=Thu, 01 Jan 1970 00:00:01 GMT", 1000), "");
        assert_eq!(check("k=v; Expires=Wed, 21-Oct-2026 07:28:00 GMT; Max-Age=1", 1002), "");
        assert_eq!(date("Wed, 21 Oct 2026 07:28:00 GMT"), Some(1_792_567_680));
        assert_eq!(date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!(date("soon"), None);
    }

    #[test]
    fn a_later_cookie_replaces_and_longer_paths_come_first() {
        let headers = ["a=1; Path=/", "b=2; Path=/x", "a=3; Path=/"];
        assert_eq!(sent(&headers, "http://h/", "http://h/x/y", 1000), "b=2; a=3");
        assert_eq!(sent(&["a=1", "a=; Max-Age=0"], "http://h/", "http://h/", 1000), "");
    }
}
