//! What a fuzzer calls (`script/fuzz`): each function takes bytes that anybody may have written, and must come back. Never
//! part of a program that people run.

use crate::net::http1::answer::{Fed, Held, Reader, Wants};

/// Most bytes of a body that are kept.
const KEPT_BYTES_MAX: u64 = 64 * 1024;

/// Reads an HTTP/1 answer and unpacks its body. The first byte says what was asked for, the second in pieces of which
/// length the rest comes.
pub fn http_answer(bytes: &[u8]) {
    let [asked, length, answer @ ..] = bytes else { return };
    let wants = Wants { head_only: asked & 1 == 1, body: asked & 2 == 0 };
    let whole = read(answer, answer.len(), wants);
    let pieces = read(answer, usize::from(*length), wants);
    assert_eq!(whole, pieces, "an answer is the same however it is cut");
}

/// Status, body, bytes used and whether the connection is kept; nothing if it is no answer.
type Answer = Option<(u16, Option<Vec<u8>>, Option<usize>, bool)>;

fn read(answer: &[u8], length: usize, wants: Wants) -> Answer {
    let held = Held::new(KEPT_BYTES_MAX);
    let mut reader = Reader::new(wants, &held);
    let (mut used, mut over) = (0, None);
    for piece in answer.chunks(length.max(1)) {
        match reader.feed(piece).ok()? {
            Fed::Over(count) => {
                assert!(count <= piece.len(), "it used more than there was");
                over = Some(used + count);
                break;
            }
            Fed::More => used += piece.len(),
        }
    }
    if over.is_none() {
        reader.end().ok()?;
    }
    let keeps = reader.keeps();
    let (head, body) = reader.finish();
    let codings = head.headers.iter().find(|(name, _)| name.as_str() == "content-encoding");
    if let (Some(body), Some(codings)) = (&body, codings.and_then(|(_, value)| value.to_str().ok())) {
        assert!(body.len() as u64 <= KEPT_BYTES_MAX);
        if let Ok(plain) = crate::coding::unpack(body.clone(), codings) {
            assert!(plain.len() <= crate::coding::UNPACKED_BYTES_MAX);
        }
    }
    Some((head.status.as_u16(), body.map(|body| body.to_vec()), over, keeps))
}

#[cfg(test)]
mod tests {
    use std::fs;

    /// Everything that the fuzzer once found worth keeping.
    #[test]
    fn the_corpus_is_read_to_its_end() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/http_answer");
        let inputs = fs::read_dir(folder).expect("the corpus is kept").map(|entry| fs::read(entry.unwrap().path()));
        assert!(inputs.map(|input| super::http_answer(&input.unwrap())).count() > 0);
    }
}
