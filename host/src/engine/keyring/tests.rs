//! What is sealed opens only where it belongs, and markers cannot be made by others.

use super::*;
use crate::domain::Timestamp;

fn secret(ring: &Keyring, tenant: &str, name: &str, value: &str) -> Secret {
    let tenant: TenantId = tenant.parse().unwrap();
    let (sealed, key_id) = ring.seal(&tenant, name, value).unwrap();
    let at = Timestamp::from_millis(0);
    let hosts = vec!["a.org".into()];
    Secret { tenant, name: name.into(), sealed, key_id, hosts, version: 1, created_at: at, updated_at: at }
}

#[test]
fn a_secret_opens_under_its_own_name_and_tenant_alone() {
    let ring = Keyring::default();
    let sealed = secret(&ring, "one", "key", "s3cret-välue");
    assert!(!sealed.sealed.contains("s3cret"));
    assert_eq!(ring.open(&sealed).unwrap(), "s3cret-välue");
    assert_ne!(sealed.sealed, secret(&ring, "one", "key", "s3cret-välue").sealed, "a nonce is used once");
    let other_tenant = Secret { tenant: "two".parse().unwrap(), ..sealed.clone() };
    let other_name = Secret { name: "other".into(), ..sealed.clone() };
    let mut changed = sealed.clone();
    changed.sealed.replace_range(40..41, if &changed.sealed[40..41] == "A" { "B" } else { "A" });
    let cut = Secret { sealed: sealed.sealed[..8].into(), ..sealed.clone() };
    for wrong in [other_tenant, other_name, changed, cut] {
        assert!(matches!(ring.open(&wrong), Err(Error::Broken(_))), "{wrong:?}");
    }
    assert!(matches!(Keyring::default().open(&sealed), Err(Error::OtherKey { .. })));
}

#[test]
fn a_new_key_seals_and_the_old_one_still_opens() {
    let (old, new) = (Keyring::make_up(), Keyring::make_up());
    let before = Keyring::parse(&old).unwrap();
    let sealed = secret(&before, "one", "key", "value");
    let both = Keyring::parse(&format!("# newest first\n{new}\n\n{old}\n")).unwrap();
    assert_eq!(both.open(&sealed).unwrap(), "value");
    let again = secret(&both, "one", "key", "value");
    assert_eq!(again.key_id, Keyring::parse(&new).unwrap().newest());
    assert!(matches!(before.open(&again), Err(Error::OtherKey { .. })));
}

#[test]
fn keys_are_32_bytes() {
    assert!(Keyring::parse(&"0123456789abcdef".repeat(4)).is_ok());
    for wrong in ["", "# nothing", "short", &"zz".repeat(32), &STANDARD.encode([1; 31])] {
        assert!(Keyring::parse(wrong).is_err(), "{wrong}");
    }
    let shown = format!("{:?}", Keyring::parse(&"ab".repeat(32)).unwrap());
    assert!(!shown.contains("abab"), "{shown}");
}

#[test]
fn a_marker_of_another_step_or_key_is_text() {
    let ring = Keyring::default();
    let (tenant, step) = (TenantId::default(), StepExecutionId::new());
    let marker = ring.marker(&tenant, step, "hook");
    let text = format!("https://x/{marker}/{marker}?~secret~a~b~ ~secret~");
    assert_eq!(ring.markers(&tenant, step, &text), [(marker.clone(), "hook".to_owned())]);
    assert_eq!(ring.markers(&tenant, StepExecutionId::new(), &text), []);
    assert_eq!(ring.markers(&"two".parse().unwrap(), step, &text), []);
    assert_eq!(Keyring::default().markers(&tenant, step, &text), []);
    let renamed = marker.replace("hook", "other");
    assert_eq!(ring.markers(&tenant, step, &renamed), []);
    for odd in ["~secret~", "~secret~a~", "~secret~a~ä", "~secret~a~ääääääääääääääääääääääääääääääää~"]
    {
        assert_eq!(ring.markers(&tenant, step, odd), []);
    }
}
