//! A way to the stand-in that is encrypted, with a certificate of an authority that nobody else knows.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Takes off what is encrypted in front of a server.
pub(crate) struct TlsFront {
    pub(crate) address: SocketAddr,
    folder: TempDir,
}

impl TlsFront {
    /// In front of this server, as the host of this name.
    pub(crate) async fn start(server: SocketAddr, host: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no name is a good name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = KeyPair::generate().expect("a key can be made");
        let authority = CertifiedIssuer::self_signed(params, authority).expect("it can be signed");
        let key = KeyPair::generate().expect("a key can be made");
        let params = CertificateParams::new([host.to_owned()]).expect("the name is one");
        let certificate = params.signed_by(&key, &authority).expect("it can be signed");
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("authority.pem"), authority.pem()).expect("it can be written");

        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("it knows them").with_no_client_auth();
        let config = config.with_single_cert(vec![certificate.der().clone()], key).expect("they fit");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port can be had");
        let address = listener.local_addr().expect("it has an address");
        tokio::spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), server));
        Self { address, folder }
    }

    /// The file with the certificate of the authority.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, server: SocketAddr) {
    while let Ok((socket, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // What goes wrong here is that one side leaves, or does not trust the other.
            if let (Ok(mut client), Ok(mut server)) =
                (acceptor.accept(socket).await, TcpStream::connect(server).await)
            {
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            }
        });
    }
}
