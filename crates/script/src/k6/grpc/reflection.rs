//! Asks a server what it speaks (<https://github.com/grpc/grpc/blob/master/doc/server-reflection.md>), by version 1 of
//! the protocol or the older one.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use engine::user::GrpcReply;
use prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};

use super::protos::Protos;

const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];
const UNIMPLEMENTED: u32 = 12;
/// Rounds of asking for files that other files need.
const ROUNDS_MAX: usize = 100;

/// Of the alternatives of a question one is set.
#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, optional, tag = "3")]
    file_by_filename: Option<String>,
    #[prost(string, optional, tag = "4")]
    file_containing_symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    list_services: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Reply {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<Error>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    descriptors: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    list: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Error {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    text: String,
}

/// Why a server did not say.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReflectionError {
    #[error("can't list services: {0}")]
    Call(String),
    #[error("the server's reflection refused: {0}")]
    Refused(String),
    #[error("the server's reflection does not make sense: {0}")]
    Nonsense(String),
}

type Asked<T, E> = std::result::Result<Result<T, ReflectionError>, E>;

/// Makes a call of one method with these messages.
type Caller<'a, E> = &'a mut dyn FnMut((&str, Vec<Bytes>)) -> Result<GrpcReply, E>;

/// Reads everything. `call` sends messages to a path and waits; what it fails with is passed on.
pub(super) fn read<E>(call: Caller<'_, E>) -> Asked<Protos, E> {
    let list = Question { list_services: Some(String::new()), ..Question::default() };
    let mut path = PATHS[0];
    let mut first = ask(call, path, std::slice::from_ref(&list))?;
    if matches!(&first, Ok(Err(UNIMPLEMENTED))) {
        path = PATHS[1];
        first = ask(call, path, &[list])?;
    }
    let services = match first {
        Ok(Ok(replies)) => replies.into_iter().filter_map(|reply| reply.services).flat_map(|services| services.list),
        Ok(Err(code)) => {
            let text = format!("the server has no reflection (status {code}): load the .proto files instead");
            return Ok(Err(ReflectionError::Call(text)));
        }
        Err(error) => return Ok(Err(error)),
    };
    let by_symbol = |service: Service| Question { file_containing_symbol: Some(service.name), ..Question::default() };
    let mut questions: Vec<_> = services.map(by_symbol).collect();
    let mut files = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        if questions.is_empty() {
            break;
        }
        match ask(call, path, &questions)? {
            Ok(Ok(replies)) => {
                if let Err(error) = take(replies, &mut files) {
                    return Ok(Err(error));
                }
            }
            Ok(Err(code)) => return Ok(Err(ReflectionError::Call(format!("status {code}")))),
            Err(error) => return Ok(Err(error)),
        }
        questions = missing(&files);
    }
    Ok(protos(files))
}

/// Replies, or the code that the call ended with.
#[expect(clippy::type_complexity, reason = "three ways to fail: the user's, the call's, the reflection's")]
fn ask<E>(
    call: &mut dyn FnMut((&str, Vec<Bytes>)) -> Result<GrpcReply, E>,
    path: &str,
    questions: &[Question],
) -> Asked<Result<Vec<Reply>, u32>, E> {
    let reply = call((path, questions.iter().map(|question| question.encode_to_vec().into()).collect()))?;
    if reply.status.code == UNIMPLEMENTED {
        return Ok(Ok(Err(UNIMPLEMENTED)));
    }
    if reply.status.code != 0 {
        return Ok(Err(ReflectionError::Call(reply.status.text)));
    }
    let mut replies = Vec::new();
    for message in reply.messages {
        let decoded = match Reply::decode(message) {
            Ok(decoded) => decoded,
            Err(error) => return Ok(Err(ReflectionError::Nonsense(error.to_string()))),
        };
        if let Some(error) = decoded.error {
            return Ok(Err(ReflectionError::Refused(error.text)));
        }
        replies.push(decoded);
    }
    Ok(Ok(Ok(replies)))
}

fn take(replies: Vec<Reply>, files: &mut BTreeMap<String, FileDescriptorProto>) -> Result<(), ReflectionError> {
    for descriptor in replies.into_iter().filter_map(|reply| reply.files).flat_map(|files| files.descriptors) {
        let file = FileDescriptorProto::decode(descriptor.as_slice())
            .map_err(|error| ReflectionError::Nonsense(error.to_string()))?;
        files.insert(file.name().to_owned(), file);
    }
    Ok(())
}

/// Files that others need and that did not come by themselves.
fn missing(files: &BTreeMap<String, FileDescriptorProto>) -> Vec<Question> {
    let needed: std::collections::BTreeSet<&String> = files.values().flat_map(|file| &file.dependency).collect();
    let missing = needed.into_iter().filter(|name| !files.contains_key(*name));
    missing.map(|name| Question { file_by_filename: Some(name.clone()), ..Question::default() }).collect()
}

/// Descriptors in the order that each needs: what a file imports stands before it.
fn protos(mut files: BTreeMap<String, FileDescriptorProto>) -> Result<Protos, ReflectionError> {
    let mut ordered = Vec::new();
    let mut waiting: VecDeque<String> = files.keys().cloned().collect();
    let mut waited = 0;
    while let Some(name) = waiting.pop_front() {
        let ready = files.get(&name).is_some_and(|file| file.dependency.iter().all(|of| !files.contains_key(of)));
        if ready {
            ordered.extend(files.remove(&name));
            waited = 0;
        } else if files.contains_key(&name) {
            waiting.push_back(name);
            waited += 1;
            if waited > waiting.len() {
                return Err(ReflectionError::Nonsense("files import each other in a circle".to_owned()));
            }
        }
    }
    Protos::of(FileDescriptorSet { file: ordered }).map_err(|error| ReflectionError::Nonsense(error.to_string()))
}
