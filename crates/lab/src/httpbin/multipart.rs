//! Reading multipart/form-data, as far as the echo and the record need it. Must never fail a request: what is not
//! well-formed is simply no form.

/// One field or file of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The field's name.
    pub(super) name: String,
    /// The file's name, if it is one.
    pub(super) file: Option<String>,
    /// The part's own content type.
    pub(super) kind: Option<String>,
    /// What is in it.
    pub(super) body: Vec<u8>,
}

/// The parts of a body whose Content-Type is this.
pub(super) fn parse(content_type: &str, body: &[u8]) -> Option<Vec<Part>> {
    let parameters = content_type.strip_prefix("multipart/form-data")?;
    let boundary = parameters.split(';').find_map(|one| one.trim().strip_prefix("boundary="))?.trim_matches('"');
    let mut parts = Vec::new();
    let mut rest = body.strip_prefix(format!("--{boundary}").as_bytes())?;
    let fence = format!("\r\n--{boundary}").into_bytes();
    while let Some(inside) = rest.strip_prefix(b"\r\n") {
        let end = find(inside, &fence)?;
        parts.push(part(&inside[..end])?);
        rest = &inside[end + fence.len()..];
    }
    rest.starts_with(b"--").then_some(parts)
}

fn part(text: &[u8]) -> Option<Part> {
    let end = find(text, b"\r\n\r\n")?;
    let head = std::str::from_utf8(&text[..end]).ok()?;
    let line = |name: &str| {
        let wanted = |line: &&str| line.to_ascii_lowercase().starts_with(name);
        head.split("\r\n").find(wanted).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    };
    let disposition = line("content-disposition")?;
    let parameter = |name: &str| {
        let start = disposition.find(&format!("; {name}=\""))? + name.len() + 4;
        Some(disposition[start..start + disposition[start..].find('"')?].to_owned())
    };
    Some(Part {
        name: parameter("name")?,
        file: parameter("filename"),
        kind: line("content-type").map(str::to_owned),
        body: text[end + 4..].to_vec(),
    })
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_files_are_told_apart() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\r\n--x\r\n\
            Content-Disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\nContent-Type: text/plain\r\n\r\n\xff\r\n--x--\r\n";
        let parts = parse("multipart/form-data; boundary=x", body).unwrap();
        let field = Part { name: "a".into(), file: None, kind: None, body: b"1\r\n".to_vec() };
        let kind = Some("text/plain".to_owned());
        let file = Part { name: "f".into(), file: Some("f.txt".into()), kind, body: b"\xff".to_vec() };
        assert_eq!(parts, [field, file]);
        assert_eq!(parse("multipart/form-data; boundary=x", &body[..40]), None);
        assert_eq!(parse("text/plain", body), None);
    }
}
