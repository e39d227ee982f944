//! Fetches a metrics page by hand: one GET over a connection of its own. A service that is stuck lets this wait in the
//! same queue as everybody else, so the time it takes is a figure in itself.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::spec::{host_and_port, masked};

/// Bytes of a page that are read; a longer page is cut.
const PAGE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScrapeError {
    #[error("{0} is no address of a metrics page")]
    Address(String),
    #[error("reading {url} failed")]
    Io { url: String, source: io::Error },
    #[error("{url} answered nothing within {wait_ms} ms")]
    TimedOut { url: String, wait_ms: u128 },
    #[error("{url} answered with status {status}")]
    Status { url: String, status: u16 },
    #[error("{0} answered with something that is not HTTP")]
    NotHttp(String),
}

/// Fetches the page at `url`, which must begin with `http://`.
pub(crate) async fn fetch(url: &str, patience: Duration) -> Result<String, ScrapeError> {
    let shown = || masked(url);
    let (host, port) = host_and_port(url, 80).ok_or_else(|| ScrapeError::Address(shown()))?;
    let answer = tokio::time::timeout(patience, exchange(&host, port, path(url))).await;
    let answer = answer.map_err(|_| ScrapeError::TimedOut { url: shown(), wait_ms: patience.as_millis() })?;
    let answer = answer.map_err(|source| ScrapeError::Io { url: shown(), source })?;
    let (status, body) = split(&answer).ok_or_else(|| ScrapeError::NotHttp(shown()))?;
    if status == 200 { Ok(body) } else { Err(ScrapeError::Status { url: shown(), status }) }
}

async fn exchange(host: &str, port: u16, path: &str) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect((host, port)).await?;
    let name = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {name}:{port}\r\nUser-Agent: plimsoll\r\nAccept: text/plain\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    let mut stream = stream.take(PAGE_BYTES_MAX);
    // Some servers keep the connection although they were asked to close it: the length says where the page ends.
    while !is_whole(&answer) && stream.read_buf(&mut answer).await? > 0 {}
    Ok(answer)
}

/// Whether an answer with a length has come to its end.
fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    length.is_some_and(|length| answer.len() - end - 4 >= length)
}

fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    path.split('#').next().unwrap_or(path)
}

/// Status and body of an answer; a body in chunks is put together.
fn split(answer: &[u8]) -> Option<(u16, String)> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, body) = (String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase(), &answer[end + 4..]);
    let status = head.strip_prefix("http/1.")?.split_whitespace().nth(1)?.parse().ok()?;
    let is_chunked = head.lines().any(|line| line.starts_with("transfer-encoding:") && line.contains("chunked"));
    let body = if is_chunked { joined(body) } else { body.to_vec() };
    Some((status, String::from_utf8_lossy(&body).into_owned()))
}

/// The chunks that came, up to the first that is damaged or cut.
fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = String::from_utf8_lossy(&rest[..end]);
        let size = size.split(';').next().and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
        let Some(chunk) = size.filter(|size| *size > 0).and_then(|size| rest.get(end + 2..end + 2 + size)) else {
            break;
        };
        body.extend_from_slice(chunk);
        rest = rest.get(end + 4 + chunk.len()..).unwrap_or_default();
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_taken_apart() {
        assert_eq!(split(b"HTTP/1.0 200 OK\r\nA: b\r\n\r\nup 1\n"), Some((200, "up 1\n".into())));
        let chunked =
            b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nup \r\n2;x=y\r\n1\n\r\n0\r\n\r\n";
        assert_eq!(split(chunked), Some((404, "up 1\n".into())));
        assert_eq!(split(b"SSH-2.0-OpenSSH\r\n\r\n"), None);
    }

    #[tokio::test]
    async fn a_connection_that_stays_open_is_not_waited_for() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nup 1\n").await.unwrap();
            std::future::pending::<()>().await;
        };
        let page = tokio::select! {
            page = fetch(&url, Duration::from_secs(10)) => page,
            () = serve => unreachable!("it keeps the connection"),
        };
        assert_eq!(page.unwrap(), "up 1\n");
    }

    #[test]
    fn paths_are_found() {
        assert_eq!(path("http://127.0.0.1:80/a/b?c=d#e"), "/a/b?c=d");
        assert_eq!(path("http://127.0.0.1"), "/");
    }
}
