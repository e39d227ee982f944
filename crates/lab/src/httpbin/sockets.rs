//! WebSocket endpoints: `/ws-echo` answers each message with itself, the `/ws-close…` ones end the connection.
//! What a client sends is recorded frame by frame. Must never send anything that was not asked for, but for `/ws-greet`.

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::any;
use serde_json::{Value, json};

use super::recorder::Recorder;

/// Offered to clients that ask for one of them.
const PROTOCOLS: [&str; 2] = ["chat", "superchat"];

pub(super) fn routes(recorder: Recorder) -> Router {
    let endpoint = |kind: Kind| {
        any(async move |State(recorder): State<Recorder>, upgrade: WebSocketUpgrade| -> Response {
            upgrade.protocols(PROTOCOLS).on_upgrade(move |socket| talk(socket, kind, recorder))
        })
    };
    Router::new()
        .route("/ws-echo", endpoint(Kind::Echo))
        .route("/ws-greet", endpoint(Kind::Greet))
        .route("/ws-close", endpoint(Kind::Close))
        .route("/ws-drop", endpoint(Kind::Drop))
        .with_state(recorder)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Answers each message with itself.
    Echo,
    /// The same, but speaks first: a text, a binary message and a ping.
    Greet,
    /// Says good-bye with code 1000 after the first message.
    Close,
    /// Ends the TCP connection after the first message without a word.
    Drop,
}

async fn talk(mut socket: WebSocket, kind: Kind, recorder: Recorder) {
    if kind == Kind::Greet {
        let greetings = [
            Message::Text("hello".into()),
            Message::Binary(vec![1, 2, 3].into()),
            Message::Ping(b"are you there"[..].into()),
        ];
        for greeting in greetings {
            if socket.send(greeting).await.is_err() {
                return;
            }
        }
    }
    while let Some(Ok(message)) = socket.recv().await {
        recorder.add(json!({ "ws": shown(&message) }));
        match (kind, message) {
            (_, Message::Ping(_) | Message::Pong(_) | Message::Close(_)) => {}
            (Kind::Echo | Kind::Greet, message) => {
                if socket.send(message).await.is_err() {
                    return;
                }
            }
            (Kind::Close, _) => {
                let farewell = CloseFrame { code: 1000, reason: "enough".into() };
                if socket.send(Message::Close(Some(farewell))).await.is_err() {
                    return;
                }
            }
            (Kind::Drop, _) => return,
        }
    }
}

fn shown(message: &Message) -> Value {
    match message {
        Message::Text(text) => json!({ "text": text.as_str() }),
        Message::Binary(bytes) => json!({ "binary": bytes.to_vec() }),
        Message::Ping(bytes) => json!({ "ping": String::from_utf8_lossy(bytes) }),
        Message::Pong(bytes) => json!({ "pong": String::from_utf8_lossy(bytes) }),
        Message::Close(None) => json!({ "close": null }),
        Message::Close(Some(frame)) => json!({ "close": frame.code, "reason": frame.reason.as_str() }),
    }
}
