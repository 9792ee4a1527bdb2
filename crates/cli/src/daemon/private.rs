//! Folders and files that nobody but the user can put something into.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

use anyhow::{Context, Result, bail};
use rustix::{fs::OFlags, io::Errno};

use crate::data_place::DataPlace;

/// The bits that let group and others write.
const OTHERS_WRITE: u32 = 0o022;

/// Makes a folder that only the user can look into. One that is there already must be the user's, and nobody else may write
/// in it: whoever can could put links there to files that are not theirs.
pub(crate) fn make_private(dir: &Path) -> Result<()> {
    let shown = dir.display();
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.with_context(|| format!("cannot make {shown}"))?;
    check_private(dir)
}

/// Refuses a data folder that others than the user can put something into. One that is not there yet is made by what needs
/// it.
pub(crate) fn check_data_folder(place: &DataPlace) -> Result<()> {
    match place.data_dir() {
        Some(dir) if dir.exists() => check_private(&dir),
        _ => Ok(()),
    }
}

fn check_private(dir: &Path) -> Result<()> {
    let shown = dir.display();
    let found = fs::metadata(dir).with_context(|| format!("cannot look at {shown}"))?;
    if found.uid() != rustix::process::getuid().as_raw() {
        bail!("{shown} belongs to another user; name a folder of your own with --data");
    }
    if found.mode() & OTHERS_WRITE != 0 {
        bail!("others than you can write in {shown}; `chmod 700 {shown}` makes it yours alone");
    }
    Ok(())
}

/// Opens a file of a private folder to write to its end; made if it is not there. A link in its place is not followed.
pub(crate) fn open_private(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options
        .create(true)
        .append(true)
        .read(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    match options.open(path) {
        Err(error) if is_link(&error) => {
            bail!("{} is a link, which is not followed; remove it", path.display())
        }
        opened => opened.with_context(|| format!("cannot write {}", path.display())),
    }
}

fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}
