//! A gateway as clients see it, over connections in memory.

mod routes;
