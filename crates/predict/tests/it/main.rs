//! The engine, seen from outside.

mod argument;
mod complete;
mod diagnosed;
mod diagnostic;
mod enumeration;
mod fixture;
mod import;
mod index;
mod mistake;
mod moment;
mod moved;
mod never;
mod patience;
mod placed;
mod refused;
mod rename;
mod repeat;
mod signature;
mod standard;
mod trust;
mod unused;
