//! Makes Rust of the lab's protocol. Must never need a compiler of protocols on the machine.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["plimsoll/lab/v1/route.proto"], ["proto"])?;
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no folder for generated code")?);
    fs::write(folder.join("route.protoset"), files.encode_to_vec())?;
    tonic_prost_build::configure().build_client(false).compile_fds(files)?;
    Ok(())
}
