//! `k6/ws` and `k6/websockets` on the real engine, against an echo server in this process.
#![expect(clippy::unwrap_used, reason = "a test that cannot prepare itself has failed")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use engine::EndReason;
use model::plan::Executor;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, accept_hdr};

use crate::driver::stage;
use crate::live::{Run, iterations, run};

/// Echoes what comes; the path says what it does beside: `/close/CODE` and `/abort` do so at once, `/ping` pings,
/// `/refuse` opens nothing, `/protocol` chooses the last one.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || serve(stream.unwrap()));
        }
    });
    url
}

fn serve(mut stream: TcpStream) {
    let mut peeked = [0; 256];
    let count = stream.peek(&mut peeked).unwrap();
    if peeked[..count].starts_with(b"GET /refuse") {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\nX-A: b\r\nContent-Length: 4\r\n\r\nnope");
        return;
    }
    let mut path = String::new();
    #[expect(clippy::result_large_err, reason = "the form of the callback is not ours")]
    let choose = |request: &Request, mut response: Response| {
        request.uri().path().clone_into(&mut path);
        response.headers_mut().insert("set-cookie", "seen=yes".parse().unwrap());
        let own = request.headers().get("x-own").map(|own| own.to_str().unwrap().to_owned());
        response.headers_mut().insert("x-own", own.unwrap_or_default().parse().unwrap());
        if let Some(protocols) = request.headers().get("sec-websocket-protocol") {
            let last = protocols.to_str().unwrap().rsplit(", ").next().unwrap().parse().unwrap();
            response.headers_mut().insert("sec-websocket-protocol", last);
        }
        Ok(response)
    };
    let Ok(mut socket) = accept_hdr(stream, choose) else { return };
    if let Some(code) = path.strip_prefix("/close/") {
        let _ = socket.close(Some(CloseFrame { code: code.parse::<u16>().unwrap().into(), reason: "bye".into() }));
    }
    if path == "/ping" {
        socket.send(Message::Ping(Vec::new().into())).unwrap();
    }
    if path == "/abort" {
        return;
    }
    while let Ok(message) = socket.read() {
        if (message.is_text() || message.is_binary()) && socket.send(message).is_err() {
            return;
        }
    }
}

const WS: &str = "import ws from 'k6/ws'; import http from 'k6/http'; import { check, group } from 'k6';";
const CLASS: &str = "import { WebSocket, Blob } from 'k6/websockets'; import { group } from 'k6';";

fn ran(imports: &str, body: &str) -> Run {
    let text = format!("{imports} const B = '{}'; export default async function () {{ {body} }}", server());
    let run = run(&text, iterations(1));
    assert_eq!((&run.ended.reason, run.count("iterations")), (&EndReason::Completed, 1.0), "{:?}", run.log);
    run
}

#[test]
fn a_blocking_socket_returns_when_it_is_over() {
    let run = ran(
        WS,
        "let job = 'not yet'; Promise.resolve().then(() => { job = 'ran'; }); setTimeout(() => console.log('global'), 1);
         const seen = [];
         const r = ws.connect(B + '/echo', { headers: { 'X-Own': 'mine' }, tags: { t: '1' } }, (socket) => {
             seen.push('setup');
             socket.on('open', () => {
                 seen.push('open'); socket.send('text'); socket.sendBinary(new Uint8Array([1, 2]).buffer); socket.ping();
                 socket.setTimeout(() => { socket.close(); seen.push('closed'); socket.close(); socket.send('late'); }, 60);
                 socket.setInterval(() => seen.push('i'), 25);
             });
             socket.on('message', (data) => seen.push(data));
             socket.on('binaryMessage', (data) => seen.push(data.byteLength, data instanceof ArrayBuffer));
             socket.on('pong', () => seen.push('pong'));
             socket.on('error', (e) => seen.push(e.error()));
             socket.on('close', (code) => seen.push(code));
         });
         console.log(seen.filter((one) => one !== 'i'), seen.includes('i'), job);
         console.log(r.status, r.url.endsWith('/echo'), r.headers['X-Own'], r.headers['Set-Cookie'], r.body, r.error, Object.keys(r));",
    );
    let seen = r#"["setup","open","text",2,true,"pong",1001,"closed","websocket: close sent"] true not yet"#;
    assert_eq!(run.log[0], seen);
    assert_eq!(run.log[1], r#"101 true mine seen=yes   ["url","status","headers","body","error"]"#);
    assert_eq!(run.log[2..], ["global"]);
    let counts = ["ws_sessions", "ws_msgs_sent", "ws_msgs_received"].map(|metric| run.count(metric));
    assert_eq!(counts, [1.0, 2.0, 2.0]);
    for trend in ["ws_connecting", "ws_session_duration", "ws_ping"] {
        assert!(run.ended.summary.metrics.contains_key(trend), "{trend}");
    }
}

#[test]
fn a_blocking_socket_tells_how_it_ended() {
    let run = ran(
        WS,
        "const end = (path) => {
             const seen = [];
             const r = ws.connect(B + path, null, (socket) => {
                 socket.on('error', (e) => seen.push(e.error())); socket.on('close', (code) => seen.push(code));
                 socket.on('ping', () => { seen.push('ping'); socket.close(3000); });
             });
             console.log(path, seen, r.status, r.body, r.error);
         };
         ['/close/1000', '/close/4000', '/abort', '/ping', '/refuse'].forEach(end);
         const r = ws.connect('ws://127.0.0.1:1/', () => console.log('never')); console.log(r.status, r.error);
         console.log(ws.connect('http://127.0.0.1:1/', () => {}).error);",
    );
    let expected = [
        r#"/close/1000 [1000] 101  "#,
        r#"/close/4000 ["websocket: close 4000: bye",4000] 101  "#,
        r#"/abort ["websocket: close 1006 (abnormal closure): unexpected EOF",1006] 101  "#,
        r#"/ping ["ping",3000] 101  "#,
        r#"/refuse [] 403 nope "#,
        "WebSocket ws://127.0.0.1:1/ did not open: dial: connection refused",
        "0 dial: connection refused",
        "WebSocket http://127.0.0.1:1/ did not open: malformed ws or wss URL",
        "malformed ws or wss URL",
    ];
    assert_eq!(run.log, expected);
}

#[test]
fn what_a_handler_throws_leaves_the_call_and_ends_the_socket() {
    let run = ran(
        WS,
        "for (const where of ['setup', 'handler', 'timer']) {
             const fail = (now) => { if (where === now) throw new Error(now); };
             try {
                 ws.connect(B + '/echo', {}, (socket) => {
                     fail('setup'); socket.setInterval(() => {}, 1); socket.setTimeout(() => fail('timer'), 20);
                     socket.on('open', () => fail('handler'));
                 });
             } catch (e) { console.log(e.message); }
         }",
    );
    assert_eq!(run.log, ["setup", "handler", "timer"]);
}

#[test]
fn sockets_may_block_within_each_other_and_in_groups() {
    let run = ran(
        WS,
        "group('g', () => ws.connect(B + '/echo', { tags: { outer: 'yes' } }, (outer) => {
             outer.on('open', () => outer.send('1'));
             outer.on('message', (data) => {
                 console.log(data);
                 if (data === '2') return outer.close();
                 outer.send('2');
                 ws.connect(B + '/echo', (inner) => {
                     inner.on('open', () => inner.send('in'));
                     inner.on('message', (data) => inner.setTimeout(() => { console.log(data); inner.close(); }, 30));
                 });
                 check(1, { 'in the group': () => true });
             });
         }));",
    );
    assert_eq!(run.log, ["1", "in", "2"]);
    let group = &run.ended.summary.root.groups[0];
    assert_eq!((group.name.as_str(), group.checks[0].passes), ("g", 1));
}

#[test]
fn the_class_is_that_of_browsers() {
    let run = ran(
        CLASS,
        "const socket = new WebSocket(B + '/echo', null, { tags: { name: 'room' } });
         console.log(socket.readyState, socket.url === B + '/echo', socket.protocol === '', socket.binaryType, WebSocket.OPEN, socket.onopen);
         const seen = [];
         try { socket.send('early'); } catch (e) { console.log(e.name); }
         socket.onopen = (e) => {
             seen.push(e.type, e.target === socket, socket.readyState);
             socket.send('text'); socket.send(new Uint8Array([1, 2, 3]).buffer); socket.send(new Uint16Array([1, 2]).subarray(1));
             socket.send(new Blob(['a', new Uint8Array([98]), new Blob(['c'])])); socket.ping();
             seen.push(socket.bufferedAmount);
         };
         socket.onmessage = async (e) => {
             const { data } = e; seen.push(typeof data === 'string' ? data : data instanceof Blob ? data.size : 'buffer');
             if (data.size === 2) socket.binaryType = 'arraybuffer';
             if (data.byteLength === 3) { seen.push(String.fromCharCode(...new Uint8Array(data)), e.origin === socket.url); }
         };
         await new Promise((resolve) => {
             socket.addEventListener('pong', () => { seen.push('pong'); socket.close(3000, 'done'); seen.push(socket.readyState); });
             socket.onclose = (e) => { seen.push(e.code, e.reason, e.wasClean, socket.readyState); };
             socket.addEventListener('close', resolve);
         });
         socket.close();
         console.log(seen);",
    );
    assert_eq!(run.log[0], "0 true true blob 1 null");
    assert_eq!(run.log[1], "InvalidStateError");
    let seen = r#"["open",true,1,12,"text",3,2,"buffer","abc",true,"pong",2,3000,"done",true,3]"#;
    assert_eq!(run.log[2..], [seen]);
    let counts = ["ws_sessions", "ws_msgs_sent", "ws_msgs_received"].map(|metric| run.count(metric));
    assert_eq!(counts, [1.0, 6.0, 4.0]);
}

#[test]
fn a_class_socket_tells_how_it_ended() {
    let run = ran(
        CLASS,
        "const end = (path, protocols) => new Promise((resolve) => {
             const socket = new WebSocket(B + path, protocols); const seen = [];
             socket.onopen = () => { seen.push(socket.protocol); if (path === '/protocol') socket.close(); };
             socket.onerror = (e) => seen.push(e.error, socket.readyState);
             socket.onclose = (e) => { console.log(path, seen, e.code, e.wasClean); resolve(); };
             if (path === '/never') socket.close();
         });
         await end('/close/1000'); await end('/close/4000'); await end('/abort'); await end('/refuse'); await end('/never');
         await end('/protocol', ['a', 'b']);
         B.length; const gone = new WebSocket('ws://127.0.0.1:1/'); gone.onerror = (e) => console.log(e.error);",
    );
    let expected = [
        r#"/close/1000 [""] 1000 true"#,
        r#"/close/4000 ["","websocket: close 4000: bye",3] 4000 true"#,
        r#"/abort ["","websocket: close 1006 (abnormal closure): unexpected EOF",3] 1006 false"#,
        r#"/refuse ["websocket: bad handshake",3] 1006 false"#,
        r#"/never ["websocket: closed before it was open",3] 1006 false"#,
        r#"/protocol ["b"] 1000 true"#,
        "dial: connection refused",
    ];
    assert_eq!(run.log, expected);
}

#[test]
fn many_sockets_of_one_user_talk_at_once() {
    let run = ran(
        "import { WebSocket } from 'k6/experimental/websockets';",
        "let got = 0, open = 0; const all = [];
         for (let i = 0; i < 50; i++) {
             const socket = new WebSocket(B + '/echo'); all.push(socket);
             socket.onopen = () => { if (++open === 50) all.forEach((one) => { for (let k = 0; k < 20; k++) one.send(`${k}`); }); };
             let next = 0;
             socket.onmessage = (e) => {
                 if (e.data !== `${next++}`) throw new Error(`${e.data} came out of turn`);
                 got++; if (next === 20) socket.close();
             };
             socket.onclose = () => { if (--open === 0) console.log(got); };
         }",
    );
    assert_eq!((run.log, run.ended.summary.metrics.len() > 6), (vec!["1000".to_owned()], true));
}

#[test]
fn a_socket_that_is_open_is_cut_with_its_scenario() {
    let text = format!(
        "{CLASS} export default function () {{ const s = new WebSocket('{}/echo');
             s.onopen = () => console.log('open'); s.onclose = () => console.log('closed'); s.onerror = () => console.log('error'); }}",
        server()
    );
    let run = run(&text, Executor::ConstantVus { vus: 1, duration: Duration::from_millis(500) });
    assert_eq!((&run.log[..], run.interrupted), (&["open".to_owned()][..], 1));
    assert_eq!((run.count("ws_sessions"), run.count("iterations")), (1.0, 0.0));
}

#[test]
fn an_iteration_that_throws_leaves_no_socket_behind() {
    let text = format!(
        "{CLASS} export default function () {{ const s = new WebSocket('{}/echo');
             s.onmessage = () => console.log('heard'); s.onopen = () => {{ s.send('x'); throw new Error('in ' + __ITER); }}; }}",
        server()
    );
    let run = run(&text, iterations(3));
    assert_eq!((run.log.len(), run.count("iterations")), (3, 3.0), "{:?}", run.log);
    assert!(run.log.iter().enumerate().all(|(i, line)| line.starts_with(&format!("Error: in {i}"))), "{:?}", run.log);
}

#[test]
fn wrong_sockets_throw_a_sentence() {
    let check = |code: &str, sentence: &str| {
        let text = format!(
            "{WS} import {{ WebSocket, Blob }} from 'k6/websockets'; export default function () {{ try {{ {code}; }} catch (e) {{ console.log(`${{e}}`); }} }}"
        );
        assert_eq!(stage(&text).log_of_run(), [sentence], "{code}");
    };
    check(
        "ws.connect('ws://h/')",
        "TypeError: ws.connect() needs a URL, maybe parameters, and a function that is given the socket",
    );
    check(
        "ws.connect('ws://h/', 'x', () => {})",
        "TypeError: the parameters of a WebSocket must be an object, string was given",
    );
    let lzw = "TypeError: unsupported compression algorithm 'lzw', supported algorithm is 'deflate'";
    check("ws.connect('ws://h/', { compression: 'lzw' }, () => {})", lzw);
    check("new WebSocket('ws://h/', null, { compression: 'lzw' })", lzw);
    check("new WebSocket()", "TypeError: WebSocket requires a url");
    check("new WebSocket('http://h/')", "TypeError: WebSocket requires url with scheme ws or wss, but got \"http\"");
    check("new WebSocket('ws://h/#a')", "TypeError: WebSocket requires no url fragment, but got \"a\"");
    let unknown = "TypeError: unknown WebSocket's option 'nonsense': there are headers, tags, jar and compression";
    check("new WebSocket('ws://h/', null, { nonsense: 1 })", unknown);
    check("new Blob(5)", "TypeError: new Blob() takes a list of texts, ArrayBuffers, views of them and Blobs");
}

#[test]
fn what_a_socket_lacks_ends_the_run_by_name() {
    let check = |code: &str, sentence: &str| {
        let text =
            format!("{WS} import {{ WebSocket }} from 'k6/websockets';\nexport default function () {{ {code} }}");
        let engine::user::Ending::Unsupported(text) = stage(&text).run().ending else { panic!("{code} is supported") };
        assert!(text.contains(sentence), "{text}");
    };
    let packed = "the parameter compression: 'deflate' of a WebSocket is not supported yet: leave it out";
    check("new WebSocket('ws://h/', null, { compression: 'deflate' });", packed);
    check("ws.connect('ws://h/', { compression: 'deflate' }, () => {});", packed);
    check("ws.connect('ws://h/', { jar: {} }, () => {});", "the parameter 'jar' of a WebSocket is not supported yet");
}

#[test]
fn an_open_socket_refuses_what_cannot_be_sent() {
    let run = ran(
        CLASS,
        "const socket = new WebSocket(B + '/echo');
         const refused = (call) => { try { call(); console.log('taken'); } catch (e) { console.log(`${e}`); } };
         socket.onopen = () => {
             for (const bad of [5, null, undefined, {}]) refused(() => socket.send(bad));
             refused(() => { socket.binaryType = 'text'; }); refused(() => socket.close(1006)); refused(() => socket.close(1000, 'x'.repeat(124)));
             socket.addEventListener('nonsense', () => {}); refused(() => socket.addEventListener('open', 5));
             const big = 'x'.repeat(33 * 1024 * 1024); socket.send(big); refused(() => socket.send(big));
             socket.close();
         };",
    );
    let wanted = "TypeError: send() takes a text, an ArrayBuffer, a view of one or a Blob, but got";
    assert_eq!(run.log[..4], ["number", "null", "undefined", "object"].map(|kind| format!("{wanted} {kind}")));
    let rest = [
        r#"TypeError: unknown binaryType text, the supported ones are "blob" and "arraybuffer""#,
        "TypeError: the code of a close must be a number from 1000 to 4999 that may be sent (not 1004, 1005, 1006 or 1015), not 1006",
        "TypeError: the reason of a close may have at most 123 bytes",
        "can't add event handler: unknown event type: nonsense",
        "TypeError: the handler of 'open' must be a function",
    ];
    assert_eq!(run.log[4..9], rest);
    assert!(run.log[9].starts_with("RangeError: more than 64 MB of messages would wait"), "{}", run.log[9]);
}
