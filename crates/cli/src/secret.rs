//! `--secret-source`: where the secrets of scripts come from. No message of this file holds a secret.

use std::collections::BTreeMap;

use script::SecretSource;

use crate::exit::{Exit, Failure};

/// Reads all sources.
///
/// # Errors
/// If one is of an unknown kind, has a part that is none, or its file cannot be read.
pub(crate) fn sources(typed: &[String]) -> Result<Vec<SecretSource>, Failure> {
    let sources = typed.iter().map(|one| source(one, |path| std::fs::read_to_string(path)));
    let sources = sources.collect::<Result<Vec<_>, _>>();
    let sources = sources.map_err(|sentence| Failure::new(Exit::Other, format!("--secret-source: {sentence}")))?;
    for (index, one) in sources.iter().enumerate() {
        if sources[..index].iter().any(|before| before.name == one.name) {
            return Err(Failure::new(Exit::Other, format!("--secret-source: two sources are named '{}'", one.name)));
        }
    }
    Ok(sources)
}

fn source(typed: &str, read: impl Fn(&str) -> std::io::Result<String>) -> Result<SecretSource, String> {
    let (kind, rest) = typed.split_once('=').unwrap_or((typed, ""));
    let mut source = SecretSource { name: "default".to_owned(), is_default: false, values: BTreeMap::new() };
    let mut file = None;
    for (index, part) in rest.split(',').enumerate() {
        match (kind, part.split_once('=')) {
            (_, None) if part == "default" => source.is_default = true,
            (_, Some(("name", name))) => name.clone_into(&mut source.name),
            ("file", Some(("filename", path))) => file = Some(path),
            ("file", None) if index == 0 && !part.is_empty() => file = Some(part),
            ("mock", Some((key, value))) => drop(source.values.insert(key.to_owned(), value.to_owned())),
            ("file", None) if part.is_empty() => {}
            ("mock" | "file", _) => {
                return Err(format!("part {} of the source of kind '{kind}' has no '='", index + 1));
            }
            _ => return Err(format!("there is no kind '{kind}': known are mock=NAME=VALUE,… and file=PATH")),
        }
    }
    if kind == "file" {
        let path = file.ok_or("a file source needs the path of a file: file=PATH")?;
        let text = read(path).map_err(|error| format!("cannot read {path}: {error}"))?;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let pair = line.split_once('=').ok_or_else(|| format!("{path}:{}: a line is NAME=VALUE", number + 1))?;
            source.values.insert(pair.0.to_owned(), pair.1.to_owned());
        }
    }
    Ok(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str) -> Result<(String, bool, String), String> {
        let read = |path: &str| match path {
            "ok.env" => Ok("k=v\n\nl=a=b\n".to_owned()),
            "bad.env" => Ok("k=v\nhush\n".to_owned()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        };
        let source = source(typed, read)?;
        let values: Vec<_> = source.values.iter().map(|(key, value)| format!("{key}:{value}")).collect();
        Ok((source.name, source.is_default, values.join(" ")))
    }

    #[test]
    fn sources_are_read_as_k6_reads_them() {
        assert_eq!(check("mock=k=v,l=w=x"), Ok(("default".into(), false, "k:v l:w=x".into())));
        assert_eq!(check("mock=default,name=m,k=v"), Ok(("m".into(), true, "k:v".into())));
        assert_eq!(check("file=ok.env"), Ok(("default".into(), false, "k:v l:a=b".into())));
        assert_eq!(check("file=filename=ok.env,name=f"), Ok(("f".into(), false, "k:v l:a=b".into())));
    }

    #[test]
    fn mistakes_are_named_without_the_secret() {
        assert!(check("vault=x").unwrap_err().contains("there is no kind 'vault'"));
        assert!(check("file=gone.env").unwrap_err().starts_with("cannot read gone.env"));
        let error = check("file=bad.env").unwrap_err();
        assert!(error == "bad.env:2: a line is NAME=VALUE", "{error}");
        assert!(check("file").unwrap_err().contains("needs the path"));
        let error = check("mock=k=v,hush").unwrap_err();
        assert!(!error.contains("hush"), "{error}");
    }
}
