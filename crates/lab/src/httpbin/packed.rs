//! The same answer, packed in each coding that clients unpack. Must never pack differently from one call to the next.

use std::io::Write;

use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use serde_json::json;

pub(super) fn routes() -> Router {
    Router::new()
        .route("/gzip", get(async |headers: HeaderMap| packed("gzip", "gzipped", &headers, gzip)))
        .route("/deflate", get(async |headers: HeaderMap| packed("deflate", "deflated", &headers, deflate)))
        .route("/brotli", get(async |headers: HeaderMap| packed("br", "brotli", &headers, brotli)))
        .route("/zstd", get(async |headers: HeaderMap| packed("zstd", "zstd", &headers, zstd)))
        .route(
            "/zstd-br",
            get(async |headers: HeaderMap| packed("zstd, br", "zstd-br", &headers, |text| brotli(&zstd(text)))),
        )
        .route("/encoding/broken", get(async || ([(header::CONTENT_ENCODING, "gzip")], "this is not gzip")))
        .route("/encoding/utf8", get(async || ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], UTF8)))
        .route("/accept", get(async |headers: HeaderMap| Json(json!({ "accept": accepted(&headers) }))))
}

const UTF8: &str = "<h1>Zwölf Boxkämpfer – ∮ E⋅da = Q, 日本語, 🦀</h1>\n";

fn accepted(headers: &HeaderMap) -> Option<String> {
    headers.get(header::ACCEPT_ENCODING).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn packed(coding: &str, word: &str, headers: &HeaderMap, pack: impl Fn(&[u8]) -> Vec<u8>) -> Response {
    let text = json!({ word: true, "accept": accepted(headers), "text": "packed ".repeat(50) }).to_string();
    let headers = [(header::CONTENT_ENCODING, coding), (header::CONTENT_TYPE, "application/json")];
    (headers, pack(text.as_bytes())).into_response()
}

const IN_MEMORY: &str = "writing to memory cannot fail";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

fn deflate(text: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

fn brotli(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
    brotli::BrotliCompress(&mut &*text, &mut packed, &parameters).expect(IN_MEMORY);
    packed
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}
