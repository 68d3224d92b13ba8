//! Senders: set, forgotten, and found for a note.

use stepwell_notice::Channel;

use super::port::outgoing::Named;
use super::port::{Write, WriteSet};
use super::{Engine, Error};
use crate::domain::TenantId;
use crate::domain::secret::check_name;
use crate::domain::sender::{SENDERS_MAX, Sender, SenderSettings};

impl Engine {
    /// Sets a sender; the sender, and whether it is a new one. A default one takes the place of the one before.
    pub async fn set_sender(
        &self,
        tenant: &TenantId,
        name: &str,
        channel: &str,
        is_default: bool,
        settings: SenderSettings,
    ) -> Result<(Sender, bool), Error> {
        let invalid = |message: String| Error::invalid("sender_invalid", message);
        check_name(name).map_err(|sentence| invalid(format!("a sender's name {sentence}")))?;
        let channel = Channel::parse(channel).map_err(|why| invalid(format!("channel: {why}")))?;
        settings.check(channel).map_err(invalid)?;
        let known = self.parts.store.senders(tenant).await?;
        let before = known.iter().find(|sender| sender.name == name);
        if before.is_none() && known.len() >= SENDERS_MAX {
            let message = format!("a tenant has at most {SENDERS_MAX} senders");
            return Err(Error::conflict("too_many_senders", message));
        }
        let now = self.parts.clock.now();
        let sender = Sender {
            tenant: tenant.clone(),
            name: name.to_owned(),
            channel: channel.label().into(),
            is_default,
            settings,
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
        };
        let mut writes = vec![Write::UpsertSender(sender.clone())];
        let steps_back = |other: &&Sender| {
            is_default && other.is_default && other.channel == sender.channel && other.name != sender.name
        };
        writes.extend(known.iter().filter(steps_back).map(|other| {
            Write::UpsertSender(Sender { is_default: false, updated_at: now, ..other.clone() })
        }));
        let created = before.is_none();
        self.committer.commit(WriteSet { writes, ..WriteSet::default() }).await?;
        Ok((sender, created))
    }

    /// Forgets a sender.
    pub async fn delete_sender(&self, tenant: &TenantId, name: &str) -> Result<(), Error> {
        self.sender(tenant, name).await?;
        self.write(Write::DeleteSender(Named { tenant: tenant.clone(), name: name.to_owned() })).await
    }

    /// A sender by its name.
    pub async fn sender(&self, tenant: &TenantId, name: &str) -> Result<Sender, Error> {
        let known = self.parts.store.senders(tenant).await?;
        known.into_iter().find(|sender| sender.name == name).ok_or_else(|| {
            let message = format!("there is no sender '{name}': set it with `stepwell sender set {name}`");
            Error::not_found("sender_not_found", message)
        })
    }

    /// The sender of a note: the one that it names, else the default one of its channel, else the only one. None
    /// if the tenant has none on that channel.
    pub async fn sender_for(
        &self,
        tenant: &TenantId,
        channel: Channel,
        name: Option<&str>,
    ) -> Result<Option<Sender>, Error> {
        if let Some(name) = name {
            let sender = self.sender(tenant, name).await?;
            if sender.channel != channel.label() {
                let message = format!(
                    "the sender '{name}' is one for {}, and the note is for {}",
                    sender.channel,
                    channel.label()
                );
                return Err(Error::unprocessable("sender_channel", message));
            }
            return Ok(Some(sender));
        }
        let mut known = self.parts.store.senders(tenant).await?;
        known.retain(|sender| sender.channel == channel.label());
        let chosen = known.iter().position(|sender| sender.is_default);
        match (chosen, known.len()) {
            (Some(at), _) => Ok(Some(known.swap_remove(at))),
            (None, 0 | 1) => Ok(known.pop()),
            (None, _) => {
                let message = format!(
                    "there are several senders for {}, and none of them is the default one: name one in `sender`",
                    channel.label()
                );
                Err(Error::unprocessable("sender_ambiguous", message))
            }
        }
    }
}
