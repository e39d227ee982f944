//! What is sent: the head of a request with all that k6 adds to the headers of the script.

use std::rc::Rc;

use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderValue, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::{HeaderMap, HeaderName, Method};

use super::cookies::SharedJar;
use super::proxy::Proxy;
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

    /// Whether its body waits for the service to ask for it.
    pub(crate) fn expects_continue(&self) -> bool {
        self.headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
    }

    /// Whether it says that its connection ends with the answer.
    pub(crate) fn closes(&self, defaults: &Defaults) -> bool {
        let close = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"close");
        defaults.close || self.headers.get(CONNECTION).is_some_and(close)
    }

    /// Writes the head of an HTTP/1.1 request. A proxy that passes requests on is told where to.
    pub(crate) fn write(&self, out: &mut Vec<u8>, defaults: &Defaults, jar: &SharedJar, proxy: Option<&Proxy>) {
        out.extend_from_slice(self.method.as_str().as_bytes());
        out.push(b' ');
        if proxy.is_some() {
            out.extend_from_slice(b"http://");
            out.extend_from_slice(self.target.host_header.as_bytes());
        }
        out.extend_from_slice(self.target.uri.path_and_query().map_or("/", |path| path.as_str()).as_bytes());
        out.extend_from_slice(b" HTTP/1.1\r\n");
        write_header(out, &HOST, self.headers.get(HOST).unwrap_or(&self.target.host_header));
        self.each(defaults, jar, |name, value| write_header(out, name, value));
        if let Some(value) = proxy.and_then(|proxy| proxy.authorization.as_ref()) {
            write_header(out, &PROXY_AUTHORIZATION, value);
        }
        out.extend_from_slice(b"\r\n");
    }

    /// The request as HTTP/2 has it, or why it cannot be one.
    pub(crate) fn request(&self, defaults: &Defaults, jar: &SharedJar) -> Result<http::Request<()>, String> {
        let authority = self.headers.get(HOST).unwrap_or(&self.target.host_header);
        let path = self.target.uri.path_and_query().map_or("/", |path| path.as_str());
        let uri = http::Uri::builder()
            .scheme(if self.target.origin.tls { "https" } else { "http" })
            .authority(authority.as_bytes())
            .path_and_query(path)
            .build()
            .map_err(|error| format!("http2: invalid request URL: {error}"))?;
        let mut request = http::Request::new(());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = uri;
        *request.version_mut() = http::Version::HTTP_2;
        let headers = request.headers_mut();
        self.each(defaults, jar, |name, value| {
            // What is about one connection has no place in HTTP/2.
            let hop = [CONNECTION, UPGRADE, TE, EXPECT].contains(name);
            if !hop && !["keep-alive", "proxy-connection"].contains(&name.as_str()) {
                headers.append(name.clone(), value.clone());
            }
        });
        Ok(request)
    }

    /// Tells all headers but Host.
    pub(crate) fn each(&self, defaults: &Defaults, jar: &SharedJar, mut tell: impl FnMut(&HeaderName, &HeaderValue)) {
        for (name, value) in [(USER_AGENT, &defaults.user_agent), (AUTHORIZATION, &self.target.authorization)] {
            if let Some(value) = value.as_ref().filter(|_| !self.headers.contains_key(&name)) {
                tell(&name, value);
            }
        }
        // The length is known better here than in the script, and how the body is cut is none of its business. Some
        // servers refuse a POST that says nothing of its length.
        if !self.body.is_empty() || matches!(self.method, Method::POST | Method::PUT | Method::PATCH) {
            tell(&CONTENT_LENGTH, &HeaderValue::from(self.body.len()));
        }
        let cookies = self.cookie_header(jar, self.headers.get(COOKIE));
        for (name, value) in self.headers {
            let ours = [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, TRAILER].contains(name);
            let replaced = *name == COOKIE && cookies.is_some() || *name == CONNECTION && defaults.close;
            if !ours && !replaced {
                tell(name, value);
            }
        }
        if let Some(cookies) = &cookies {
            tell(&COOKIE, cookies);
        }
        if defaults.close {
            tell(&CONNECTION, &HeaderValue::from_static("close"));
        }
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

/// A header in its usual spelling: each word with a capital.
fn write_header(out: &mut Vec<u8>, name: &HeaderName, value: &HeaderValue) {
    let mut first = true;
    out.extend(name.as_str().bytes().map(|byte| {
        let spelled = if first { byte.to_ascii_uppercase() } else { byte };
        first = byte == b'-';
        spelled
    }));
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
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
        let defaults = Defaults { user_agent: None, close: true };
        let written = |outgoing: &Outgoing<'_>, jar: &SharedJar| {
            let mut out = Vec::new();
            outgoing.write(&mut out, &defaults, jar, None);
            String::from_utf8(out).unwrap()
        };
        let expected = "GET / HTTP/1.1\r\nHost: h\r\nCookie: b=2; a=x; b=y\r\nConnection: close\r\n\r\n";
        assert_eq!(written(&outgoing, &jar), expected);
        outgoing.method = Method::POST;
        assert!(written(&outgoing, &jar).contains("\r\nContent-Length: 0\r\n"));
        let request = outgoing.request(&defaults, &jar).unwrap();
        assert_eq!(request.uri().to_string(), "http://h/");
        assert!(request.headers().contains_key(COOKIE) && !request.headers().contains_key(CONNECTION));
    }
}
