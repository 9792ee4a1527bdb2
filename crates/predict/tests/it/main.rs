//! The engine, seen from outside.

mod complete;
mod diagnosed;
mod diagnostic;
mod fixture;
mod import;
mod index;
mod mistake;
mod moved;
mod never;
mod rename;
mod repeat;
mod signature;
mod standard;
mod unused;
