//! The secrets that the environment of a client holds: keys, and passwords in the addresses of providers and proxies.

use nudge_wire::Environment;
use percent_encoding::percent_decode_str;
use reqwest::Url;

use crate::{PROVIDERS, SecretText, http::PROXY_VARIABLES, provider::secret_variables};

/// Every secret of an environment that has to do with how models are reached.
pub(crate) fn environment_secrets(environment: &Environment) -> Vec<SecretText> {
    let value = |name: &str| environment.variables().get(name).map(String::as_str);
    let addresses = PROVIDERS.iter().flat_map(|provider| provider.address_variables);
    let addresses = addresses.chain(PROXY_VARIABLES).filter_map(|name| value(name));
    // As they are used.
    let keys = secret_variables().filter_map(value).map(|key| SecretText::new(key.trim()));
    keys.chain(addresses.flat_map(passwords)).collect()
}

/// The password that an address names, as it stands there and as it is meant.
fn passwords(address: &str) -> Vec<SecretText> {
    // A proxy may be named without a scheme.
    let scheme = if address.contains("://") { "" } else { "http://" };
    let Ok(url) = Url::parse(&format!("{scheme}{address}")) else { return Vec::new() };
    let Some(written) = url.password() else { return Vec::new() };
    let meant = percent_decode_str(written).decode_utf8_lossy();
    vec![SecretText::new(written), SecretText::new(meant.as_ref())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, value: &str, secrets: &[&str]) {
        let variables = [(name.to_owned(), value.to_owned())];
        let found = environment_secrets(&Environment::new(variables.into()));
        let found: Vec<&str> = found.iter().map(SecretText::reveal).collect();
        assert_eq!(found, secrets, "{name}");
    }

    #[test]
    fn keys_and_passwords_in_addresses_are_secrets() {
        check("OPENAI_API_KEY", "sk-1", &["sk-1"]);
        check("AWS_SESSION_TOKEN", "lent", &["lent"]);
        check("AWS_ACCESS_KEY_ID", "AKID", &[]);
        check("https_proxy", "http://me:p%2Fw@proxy:8080", &["p%2Fw", "p/w"]);
        check("ALL_PROXY", "me:word@proxy:8080", &["word", "word"]);
        check("HTTP_PROXY", "http://me@proxy:8080", &[]);
        check("OPENAI_BASE_URL", "https://me:word@example.com/v1", &["word", "word"]);
        check("NO_PROXY", "me:word@proxy", &[]);
        check("https_proxy", "::", &[]);
    }
}
