//! Digest authentication, RFC 7616: the answer to a challenge, with MD5 or SHA-256. Never sends a password.

use http::header::{HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use md5::{Digest, Md5};
use sha2::Sha256;

use super::connection::Answered;
use super::target::{Target, percent_decoded};
use crate::user::Failure;

/// What a service wants to know.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Option<String>,
    /// `auth` if it is offered, else what else is.
    qop: Option<String>,
}

/// The challenge in an answer, if it is one that can be answered.
pub(crate) fn challenge(answered: &Result<Answered, Failure>) -> Option<Challenge> {
    let head = &answered.as_ref().ok()?.head;
    if head.status != StatusCode::UNAUTHORIZED {
        return None;
    }
    head.headers.get_all(WWW_AUTHENTICATE).iter().find_map(|header| parse(header.to_str().ok()?))
}

fn parse(header: &str) -> Option<Challenge> {
    let (scheme, mut rest) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("digest") {
        return None;
    }
    let mut challenge = Challenge::default();
    while let Some((name, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let (value, behind) = match behind.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => behind.split_at(behind.find(',').unwrap_or(behind.len())),
        };
        let value = value.trim().to_owned();
        match name.trim().to_ascii_lowercase().as_str() {
            "realm" => challenge.realm = value,
            "nonce" => challenge.nonce = value,
            "opaque" => challenge.opaque = Some(value),
            "algorithm" => challenge.algorithm = Some(value),
            "qop" => {
                challenge.qop = value.split(',').map(str::trim).find(|one| matches!(*one, "auth")).map(str::to_owned);
            }
            _ => {}
        }
        rest = behind.trim_start().trim_start_matches(',').trim_start();
    }
    let known = ["md5", "md5-sess", "sha-256", "sha-256-sess"];
    let is_known = challenge.algorithm.as_ref().is_none_or(|name| known.contains(&name.to_ascii_lowercase().as_str()));
    (is_known && !challenge.nonce.is_empty()).then_some(challenge)
}

impl Challenge {
    /// The `Authorization` header that answers it, for user and password of the target's URL.
    pub(crate) fn answer(&self, method: &Method, target: &Target) -> HeaderValue {
        let text = |part: &str| String::from_utf8_lossy(&percent_decoded(part)).into_owned();
        let (user, password) = (text(target.url.username()), text(target.url.password().unwrap_or_default()));
        let answer = self.answer_with(method, &target.uri.to_string(), [&user, &password], &client_nonce());
        HeaderValue::try_from(answer).unwrap_or_else(|_| HeaderValue::from_static("Digest"))
    }

    fn answer_with(&self, method: &Method, uri: &str, [user, password]: [&str; 2], client_nonce: &str) -> String {
        let Self { realm, nonce, opaque, algorithm, qop } = self;
        let name = algorithm.as_deref().unwrap_or("MD5").to_ascii_lowercase();
        let hash =
            |text: String| if name.starts_with("sha") { hex(&Sha256::digest(text)) } else { hex(&Md5::digest(text)) };
        let mut secret = hash(format!("{user}:{realm}:{password}"));
        if name.ends_with("-sess") {
            secret = hash(format!("{secret}:{nonce}:{client_nonce}"));
        }
        let what = hash(format!("{method}:{uri}"));
        // Each challenge is answered once, so the count of its uses is one.
        let response = match qop {
            Some(qop) => hash(format!("{secret}:{nonce}:00000001:{client_nonce}:{qop}:{what}")),
            None => hash(format!("{secret}:{nonce}:{what}")),
        };
        let mut parts = vec![
            format!("username=\"{}\"", user.replace('\\', "\\\\").replace('"', "\\\"")),
            format!("realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{uri}\", response=\"{response}\""),
        ];
        parts.extend(algorithm.as_ref().map(|algorithm| format!("algorithm={algorithm}")));
        parts.extend(opaque.as_ref().map(|opaque| format!("opaque=\"{opaque}\"")));
        parts.extend(qop.as_ref().map(|qop| format!("qop={qop}, nc=00000001, cnonce=\"{client_nonce}\"")));
        format!("Digest {}", parts.join(", "))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Something that no service has seen: the hasher's keys are random.
fn client_nonce() -> String {
    use std::hash::{BuildHasher, Hasher};
    let number = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7616, section 3.9.1.
    #[test]
    fn the_examples_of_the_standard_come_out() {
        let check = |algorithm: &str, expected: &str| {
            let header = format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            );
            let challenge = parse(&header).unwrap();
            let nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
            let secrets = ["Mufasa", "Circle of Life"];
            let answer = challenge.answer_with(&Method::GET, "/dir/index.html", secrets, nonce);
            assert!(answer.contains(&format!("response=\"{expected}\"")), "{answer}");
            assert!(answer.contains("qop=auth, nc=00000001") && answer.contains("opaque=\"FQhe/"), "{answer}");
        };
        check("MD5", "8ca523f5e9506fed4657c9700eebdbec");
        check("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
    }

    #[test]
    fn what_cannot_be_answered_is_no_challenge() {
        assert_eq!(parse("Basic realm=\"r\""), None);
        assert_eq!(parse("Digest realm=\"r\""), None);
        assert_eq!(parse("Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512"), None);
        let without_qop = parse("digest realm=\"a=b, c\", nonce=n").unwrap();
        assert_eq!((without_qop.realm.as_str(), without_qop.nonce.as_str(), without_qop.qop), ("a=b, c", "n", None));
    }
}
