//! What is known of services and their messages. Files are compiled once for all users.

use std::path::PathBuf;
use std::sync::OnceLock;

use prost::Message;
use prost_reflect::prost_types::{self, FileDescriptorSet};
use prost_reflect::{DescriptorError, DescriptorPool, MethodDescriptor};
use protox::file::{File, FileResolver};

use crate::host::World;

/// Services and messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protos {
    pool: DescriptorPool,
}

/// Why they could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProtosError {
    /// The compiler says no.
    #[error("cannot compile {files}: {reason}")]
    Compile { files: String, reason: String },
    /// A file cannot be read.
    #[error("cannot read the protoset {path}: {reason}")]
    Read { path: String, reason: std::io::Error },
    /// It is no set of descriptors.
    #[error("{what} is no set of protobuf descriptors: {reason}")]
    Decode { what: String, reason: DescriptorError },
    /// Two files say different things.
    #[error("the protobuf descriptors do not fit together: {0}")]
    Merge(#[from] DescriptorError),
}

/// Which files, found in which folders.
pub(crate) type ProtosKey = (Vec<PathBuf>, Vec<String>);

/// Compiles `files`, looked for in `paths`; all of them are relative to the folder of the script.
pub(super) fn load(world: &World, paths: &[String], files: &[String]) -> Result<Protos, ProtosError> {
    if files.is_empty() {
        return Ok(Protos::default());
    }
    let mut folders: Vec<PathBuf> = paths.iter().map(|path| world.folder.join(path)).collect();
    if folders.is_empty() {
        folders.push(if world.folder.as_os_str().is_empty() { PathBuf::from(".") } else { world.folder.clone() });
    }
    let key = (folders, files.to_vec());
    let known = world.protos.lock().expect("no panic while the lock is held").get(&key).cloned();
    if let Some(known) = known {
        return Ok(known);
    }
    let wrong =
        |error: &dyn std::fmt::Display| ProtosError::Compile { files: files.join(", "), reason: error.to_string() };
    let mut compiler = protox::Compiler::new(&key.0).map_err(|error| wrong(&error))?;
    compiler.include_imports(true);
    for file in files {
        compiler.open_file(file).map_err(|error| wrong(&error))?;
    }
    let loaded = Protos { pool: compiler.descriptor_pool() };
    world.protos.lock().expect("no panic while the lock is held").insert(key, loaded.clone());
    Ok(loaded)
}

/// Reads a set of descriptors, as compilers write it.
pub(super) fn load_protoset(world: &World, path: &str) -> Result<Protos, ProtosError> {
    let key = (Vec::new(), vec![path.to_owned()]);
    let known = world.protos.lock().expect("no panic while the lock is held").get(&key).cloned();
    if let Some(known) = known {
        return Ok(known);
    }
    let bytes =
        std::fs::read(world.folder.join(path)).map_err(|reason| ProtosError::Read { path: path.to_owned(), reason })?;
    let loaded = Protos::decode(&bytes).map_err(|reason| ProtosError::Decode { what: path.to_owned(), reason })?;
    world.protos.lock().expect("no panic while the lock is held").insert(key, loaded.clone());
    Ok(loaded)
}

impl Protos {
    /// What an encoded `FileDescriptorSet` says.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DescriptorError> {
        DescriptorPool::decode(bytes).map(|pool| Self { pool })
    }

    /// What these files say.
    pub(super) fn of(files: FileDescriptorSet) -> Result<Self, DescriptorError> {
        DescriptorPool::from_file_descriptor_set(files).map(|pool| Self { pool })
    }

    /// Takes in what is new in `other`.
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), ProtosError> {
        if self.pool.files().len() == 0 {
            *self = other.clone();
            return Ok(());
        }
        let known = |file: &prost_reflect::FileDescriptor| self.pool.get_file_by_name(file.name()).is_none();
        let new: Vec<_> = other.pool.files().filter(known).map(|file| file.file_descriptor_proto().clone()).collect();
        Ok(self.pool.add_file_descriptor_protos(new)?)
    }

    /// All methods of all services, in the order of the files.
    pub(super) fn methods(&self) -> impl Iterator<Item = MethodDescriptor> {
        let services: Vec<_> = self.pool.services().collect();
        services.into_iter().flat_map(|service| service.methods().collect::<Vec<_>>())
    }

    /// The method at `/package.Service/Method`; the slash in front may be missing.
    pub(super) fn method(&self, path: &str) -> Option<MethodDescriptor> {
        let (service, method) = path.trim_start_matches('/').rsplit_once('/')?;
        self.pool.get_service_by_name(service)?.methods().find(|known| known.name() == method)
    }
}

/// The protocol of health checks (<https://github.com/grpc/grpc/blob/master/doc/health-checking.md>).
const HEALTH: &str = r#"
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }
"#;

/// What health checks speak.
pub(super) fn health() -> Protos {
    static KNOWN: OnceLock<Protos> = OnceLock::new();
    let make = || {
        let mut compiler = protox::Compiler::with_file_resolver(Health);
        compiler.open_file(HEALTH_FILE).expect("the protocol compiles");
        Protos { pool: compiler.descriptor_pool() }
    };
    KNOWN.get_or_init(make).clone()
}

const HEALTH_FILE: &str = "health.proto";

/// Knows the one file.
struct Health;

impl FileResolver for Health {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if name == HEALTH_FILE { File::from_source(name, HEALTH) } else { Err(protox::Error::file_not_found(name)) }
    }
}

/// `google.rpc.Status`, as far as it says more than code and text.
#[derive(Clone, PartialEq, Message)]
struct Details {
    #[prost(message, repeated, tag = "3")]
    details: Vec<prost_types::Any>,
}

/// The details of a status as a JSON list: the type of each, and its bytes in base64.
pub(super) fn details(bytes: &[u8]) -> Result<String, prost::DecodeError> {
    use base64::Engine;
    let one = |any: prost_types::Any| serde_json::json!({ "@type": any.type_url, "value": base64::engine::general_purpose::STANDARD.encode(any.value) });
    Ok(serde_json::Value::from_iter(Details::decode(bytes)?.details.into_iter().map(one)).to_string())
}
