//! Taking, keeping and giving back the right to write.

use sqlx::{Row as _, SqliteConnection};

use super::value::{from_i64, to_i64};
use crate::{HeldLease, Millis, SessionId, SessionLease, sql};

pub(super) async fn acquire(
    conn: &mut SqliteConnection,
    session: &SessionId,
    owner: &str,
    now: Millis,
    ttl: Millis,
) -> Result<Result<SessionLease, HeldLease>, sqlx::Error> {
    let row = sqlx::query(sql::LEASE).bind(&**session).fetch_optional(&mut *conn).await?;
    if let Some(row) = row {
        let held = HeldLease {
            owner: row.try_get(0)?,
            epoch: from_i64(row.try_get(1)?),
            until: from_i64(row.try_get(2)?),
        };
        if held.until > now {
            return Ok(Err(held));
        }
    }
    let epoch: i64 = sqlx::query(sql::NEXT_EPOCH).fetch_one(&mut *conn).await?.try_get(0)?;
    let until = to_i64(now.saturating_add(ttl));
    sqlx::query(sql::TAKE_LEASE).bind(&**session).bind(owner).bind(epoch).bind(until).execute(conn).await?;
    Ok(Ok(SessionLease { session: session.clone(), owner: owner.to_owned(), epoch: from_i64(epoch) }))
}

/// Gives back the leases that are lost.
pub(super) async fn renew(
    conn: &mut SqliteConnection,
    leases: &[SessionLease],
    until: Millis,
) -> Result<Vec<SessionLease>, sqlx::Error> {
    let mut lost = Vec::new();
    for lease in leases {
        let query = sqlx::query(sql::RENEW_LEASE).bind(&*lease.session).bind(&lease.owner);
        let done = query.bind(to_i64(lease.epoch)).bind(to_i64(until)).execute(&mut *conn).await?;
        if done.rows_affected() == 0 {
            lost.push(lease.clone());
        }
    }
    Ok(lost)
}

pub(super) async fn release(conn: &mut SqliteConnection, lease: &SessionLease) -> Result<(), sqlx::Error> {
    let query = sqlx::query(sql::RELEASE_LEASE).bind(&*lease.session).bind(&lease.owner);
    query.bind(to_i64(lease.epoch)).execute(conn).await?;
    Ok(())
}

/// Says how many were freed.
pub(super) async fn release_owner(conn: &mut SqliteConnection, owner: &str) -> Result<u64, sqlx::Error> {
    Ok(sqlx::query(sql::RELEASE_OWNER).bind(owner).execute(conn).await?.rows_affected())
}
