//! Fixed documents: HTML with everything a selector may want, forms, links, JSON, XML, images.
//! Must never change from one call to the next.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

pub(super) fn routes() -> Router {
    let typed =
        |kind: &'static str, body: &'static [u8]| get(move || async move { ([(header::CONTENT_TYPE, kind)], body) });
    Router::new()
        .route("/html", get(async || Html(HTML)))
        .route("/forms/post", get(async || Html(FORM)))
        .route("/forms/many", get(async || Html(FORMS)))
        .route("/links/{count}/{here}", get(links))
        .route("/json", get(async || Json(document())))
        .route(
            "/xml",
            typed("application/xml", b"<?xml version='1.0'?>\n<slideshow title=\"Sample\"><slide/></slideshow>\n"),
        )
        .route("/robots.txt", typed("text/plain", b"User-agent: *\nDisallow: /deny\n"))
        .route("/deny", typed("text/plain", b"no entry\n"))
        .route("/uuid", get(async || Json(json!({ "uuid": "3d1c4f0e-5b1a-4a55-9d1e-0c5a1e8f7a60" }))))
        .route("/base64/{text}", get(async |Path(text): Path<String>| text))
        .route("/image/png", typed("image/png", PNG))
        .route("/image/jpeg", typed("image/jpeg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\xff\xd9"))
        .route(
            "/image/svg",
            typed("image/svg+xml", b"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>\n"),
        )
        .route("/invalid-json", typed("application/json", b"{\"a\": 1,\n \"b\": }"))
        .route("/empty", get(async || StatusCode::OK))
}

async fn links(Path((count, here)): Path<(usize, usize)>) -> Response {
    let link = |number: usize| match number == here {
        true => format!("{number} "),
        false => format!("<a href='/links/{count}/{number}'>{number}</a> "),
    };
    let all: String = (0..count.min(200)).map(link).collect();
    Html(format!("<html><head><title>Links</title></head><body>{all}</body></html>")).into_response()
}

fn document() -> serde_json::Value {
    json!({
        "slideshow": {
            "author": "Yours Truly", "date": "date of publication", "title": "Sample Slide Show",
            "slides": [
                { "title": "Wake up to WonderWidgets!", "type": "all", "rank": 3 },
                { "title": "Overview", "type": "all", "rank": 1, "items": ["Why WonderWidgets are great", "Who buys WonderWidgets"] },
                { "title": "The end", "type": "some", "rank": 2 },
            ],
        },
        "numbers": [1, 2.5, -3, 1e3], "truth": true, "nothing": null, "fav.movie": "Deer Hunter",
        "friends": [
            { "first": "Dale", "last": "Murphy", "age": 44, "nets": ["ig", "fb", "tw"] },
            { "first": "Roger", "last": "Craig", "age": 68, "nets": ["fb", "tw"] },
            { "first": "Jane", "last": "Murphy", "age": 47, "nets": ["ig", "tw"] },
        ],
    })
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\nIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82";

const HTML: &str = r##"<!DOCTYPE html>
<html lang="en">
<head><title>The whale</title><meta charset="utf-8"><meta name="author" content="Melville"></head>
<body>
<h1 id="top">Herman Melville - Moby-Dick</h1>
<div class="chapter first" data-number="1" data-long-name="loomings"><p>Call me Ishmael.</p><p class="hint">Some years ago</p></div>
<div class="chapter" data-number="2" data-flag="true" data-object='{"a":1}'><p>I stuffed a shirt or two</p><a href="/links/3/0" title="next">next</a></div>
<ul id="list"><li>one</li><li class="mid">two</li><li>three</li></ul>
<table><tr><th>name</th><th>size</th></tr><tr><td>whale</td><td>52</td></tr></table>
<a href="https://example.com/away?x=1#part" rel="nofollow">away</a>
<img src="/image/png" alt="dot" width="1" height="1">
<!-- a remark -->
</body>
</html>
"##;

const FORM: &str = r##"<!DOCTYPE html>
<html><body>
<form method="post" action="/post">
<p><label>Name: <input name="custname" value="Ada"></label></p>
<p><label>Phone: <input type="tel" name="custtel"></label></p>
<p><label>Mail: <input type="email" name="custemail" value="ada@example.com"></label></p>
<fieldset><label><input type="radio" name="size" value="small"> S</label><label><input type="radio" name="size" value="medium" checked="checked"> M</label></fieldset>
<fieldset><label><input type="checkbox" name="topping" value="bacon" checked="checked"> B</label><label><input type="checkbox" name="topping" value="cheese"> C</label></fieldset>
<p><select name="when"><option value="now">now</option><option value="later" selected="selected">later</option></select></p>
<p><textarea name="comments">none</textarea></p>
<p><button type="submit" name="order" value="yes">Submit</button></p>
</form>
</body></html>
"##;

const FORMS: &str = r##"<!DOCTYPE html>
<html><body>
<form id="search" method="get" action="/get?old=1"><input name="q" value="whales"><input type="submit" value="Go"></form>
<form id="bare"><input name="a" value="1"><input name="off" value="x" disabled="disabled"><input type="submit" name="s" value="first"></form>
<form id="put" method="post" action="/anything/put"><input type="hidden" name="token" value="t0k&amp;en"><input type="submit" id="one" name="which" value="one"><input type="submit" id="two" name="which" value="two"></form>
</body></html>
"##;
