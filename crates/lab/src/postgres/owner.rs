//! Whom PostgreSQL runs as: it refuses root, so root hands it to an unprivileged user. Must never pick a user with
//! rights of its own beyond `postgres` or `nobody`.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, anyhow};

/// The user of the cluster's files and processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// We are not root: whoever we are.
    Ourselves,
    /// We are root: this user and group.
    Other { uid: u32, gid: u32 },
}

impl Owner {
    pub(super) fn choose() -> anyhow::Result<Self> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Owner::Ourselves);
        }
        let passwd = fs::read_to_string("/etc/passwd").context("could not look for the user 'postgres'")?;
        ["postgres", "nobody"].iter().find_map(|name| in_passwd(&passwd, name)).ok_or_else(|| {
            anyhow!(
                "PostgreSQL refuses to run as root, and this machine has neither a user 'postgres' nor 'nobody' to \
                 run it as; run the lab as an ordinary user"
            )
        })
    }

    pub(super) fn ids(self) -> Option<(u32, u32)> {
        match self {
            Owner::Ourselves => None,
            Owner::Other { uid, gid } => Some((uid, gid)),
        }
    }

    /// Makes the command run as this user; std drops the supplementary groups along with root.
    pub(super) fn become_in(self, command: &mut Command) {
        if let Some((uid, gid)) = self.ids() {
            command.uid(uid).gid(gid);
        }
    }
}

fn in_passwd(passwd: &str, name: &str) -> Option<Owner> {
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    let uid = fields.next()?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    (uid != 0).then_some(Owner::Other { uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_exact_name_and_never_as_root() {
        let passwd = "root:x:0:0::/root:/bin/sh\nnobody2:x:5:5::/:\nnobody:x:65534:65533::/:\npostgres:x:0:0::/:\n";
        assert_eq!(in_passwd(passwd, "nobody"), Some(Owner::Other { uid: 65534, gid: 65533 }));
        assert_eq!(in_passwd(passwd, "postgres"), None);
        assert_eq!(in_passwd(passwd, "absent"), None);
    }
}
