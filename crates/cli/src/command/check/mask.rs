//! Takes out of what is shown what nobody shall see: passwords and tokens in URLs, headers, JSON and plain words. Rather
//! takes out too much.

/// What is shown in place of a secret.
const MASK: &str = "***";

/// Parts of names whose values are secret, in lower case and without `-` and `_`.
const SECRET_PARTS: [&str; 13] = [
    "authorization",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "cookie",
    "signature",
    "sessionid",
    "credential",
    "jwt",
];
/// Whole names of that kind.
const SECRET_NAMES: [&str; 7] = ["auth", "key", "sig", "pwd", "pass", "sid", "session"];
/// Headers whose values have blanks in them.
const SECRET_LINES: [&str; 2] = ["authorization", "cookie"];
/// Shortest word behind `Bearer` or `Basic` that is taken for a secret.
const WORD_MIN: usize = 8;

/// The text without secrets.
pub(super) fn mask(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix("://") {
            out.push_str("://");
            rest = user_info(behind, &mut out);
            continue;
        }
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if length == 0 {
            let first = rest.chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[..first]);
            rest = &rest[first..];
            continue;
        }
        let (word, behind) = rest.split_at(length);
        if looks_like_a_jwt(word) {
            out.push_str(MASK);
            rest = behind;
            continue;
        }
        out.push_str(word);
        rest = behind;
        if let Some((kept, secret)) = value_of(word, behind) {
            out.push_str(&behind[..kept]);
            out.push_str(MASK);
            rest = &behind[kept + secret..];
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Writes `user:***@` if a password stands there, and gives what is behind.
fn user_info<'t>(text: &'t str, out: &mut String) -> &'t str {
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'')).unwrap_or(text.len());
    let Some((info, _)) = text[..end].rsplit_once('@') else { return text };
    match info.split_once(':') {
        Some((user, _)) => {
            out.push_str(user);
            out.push(':');
            out.push_str(MASK);
            &text[info.len()..]
        }
        None => text,
    }
}

/// Where in `behind` the secret is that belongs to `word`: how many bytes stand in front of it, and its length.
fn value_of(word: &str, behind: &str) -> Option<(usize, usize)> {
    let name: String = word.to_lowercase().chars().filter(|c| !matches!(c, '-' | '_')).collect();
    if ["bearer", "basic", "digest"].contains(&name.as_str()) {
        let kept = behind.len() - behind.trim_start_matches(' ').len();
        let length = behind[kept..].find(|c: char| c.is_whitespace() || is_end(c)).unwrap_or(behind.len() - kept);
        let value = &behind[kept..kept + length];
        let is_prose = value.chars().all(char::is_alphabetic) && value.to_lowercase() == value;
        return (kept > 0 && length >= WORD_MIN && !is_prose).then_some((kept, length));
    }
    // Of `a.b.token` the last part counts.
    let last = name.rsplit('.').next().unwrap_or_default();
    if !SECRET_PARTS.iter().any(|part| last.contains(part)) && !SECRET_NAMES.contains(&last) {
        return None;
    }
    let mut kept = behind.strip_prefix(['"', '\'', ']']).map_or(0, |_| 1);
    kept += behind[kept..].len() - behind[kept..].trim_start_matches(' ').len();
    kept += behind[kept..].strip_prefix([':', '=']).map(|_| 1)?;
    kept += behind[kept..].len() - behind[kept..].trim_start_matches([' ', '[']).len();
    if let Some(quote) = behind[kept..].chars().next().filter(|c| matches!(c, '"' | '\'')) {
        kept += 1;
        let length = behind[kept..].find(quote).unwrap_or(behind.len() - kept);
        return (length > 0).then_some((kept, length));
    }
    let is_line = SECRET_LINES.iter().any(|part| last.contains(part));
    let ends = |c: char| if is_line { matches!(c, '\n' | '"' | '\'') } else { c.is_whitespace() || is_end(c) };
    let length = behind[kept..].find(ends).unwrap_or(behind.len() - kept);
    (length > 0).then_some((kept, length))
}

fn is_end(c: char) -> bool {
    matches!(c, '&' | '#' | ',' | ';' | '"' | '\'' | ')' | '}' | ']')
}

/// `eyJ….eyJ….…`.
fn looks_like_a_jwt(word: &str) -> bool {
    word.starts_with("eyJ") && word.matches('.').count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_wherever_they_stand() {
        let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
        check("GET http://me:s3cret@127.0.0.1:1/x", "GET http://me:***@127.0.0.1:1/x");
        check("http://me:a@b@c.d/", "http://me:***@c.d/");
        check("http://a.b/?access_token=abc&page=2#x", "http://a.b/?access_token=***&page=2#x");
        check("http://a.b/?page=2&api-key=abc", "http://a.b/?page=2&api-key=***");
        check("Authorization: Bearer abc def\nnext: 1", "Authorization: ***\nnext: 1");
        check("sends Bearer abcdef12345, then", "sends Bearer ***, then");
        check("basic authentication failed", "basic authentication failed");
        check(r#"{"token":"abc","n":1}"#, r#"{"token":"***","n":1}"#);
        check("{ password: 'p w', n: 1 }", "{ password: '***', n: 1 }");
        check("Set-Cookie: sid=1; Path=/", "Set-Cookie: ***");
        check("it is eyJhbGciOi.eyJzdWIi.sig-x", "it is ***");
        check("user.token=abc", "user.token=***");
    }

    #[test]
    fn everything_else_stays() {
        for text in ["", "status is 200", "http://a.b:80/x@y:z?q=1", "the token is gone", "tokens 5: ü", "key: "] {
            assert_eq!(mask(text), text);
        }
    }
}
