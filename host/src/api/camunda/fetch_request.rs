//! What a worker asks for: topics, each with a lock, filters and variables of its own.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

use super::body::Fields;
use super::error::CamundaError;
use super::variables::Wish;
use super::view::tenant_id;
use crate::domain::TenantId;
use crate::domain::limits::Limits;

/// Camunda's longest wait.
const WAIT_MS_MAX: i64 = 1_800_000;
/// Topics of one request.
const TOPICS_MAX: usize = 100;
/// The longest lock: ten years.
pub(super) const LOCK_MS_MAX: i64 = 315_360_000_000;
/// The longest name of a worker or a topic.
const NAME_CHARACTERS_MAX: usize = 255;

/// A request for tasks.
#[derive(Debug)]
pub(super) struct FetchRequest {
    pub(super) worker_id: String,
    pub(super) max_tasks: u32,
    pub(super) use_priority: bool,
    /// Oldest first if false; the order of the database if absent.
    pub(super) newest_first: Option<bool>,
    pub(super) wait: Duration,
    pub(super) topics: HashMap<String, Topic>,
}

/// One topic.
#[derive(Debug)]
pub(super) struct Topic {
    pub(super) lock_ms: i64,
    pub(super) wish: Wish,
    pub(super) filter: Filter,
    /// Whether the worker wants what the step's definition says for it.
    pub(super) properties: bool,
}

/// Which tasks of a topic.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Filter {
    pub(super) business_key: Option<String>,
    pub(super) definition_ids: Option<Vec<String>>,
    pub(super) workflow_keys: Option<Vec<String>>,
    /// An instance matches if any of them does.
    pub(super) variables: Vec<(String, Value)>,
    /// A pattern of SQL's `like`.
    pub(super) version_tag: Option<String>,
    /// None at all: another tenant's.
    pub(super) none: bool,
}

impl FetchRequest {
    /// Reads a request, with Camunda's words for what is wrong.
    pub(super) fn read(fields: &Fields, tenant: &TenantId, limits: &Limits) -> Result<Self, CamundaError> {
        let newest_first = sorting(fields)?;
        let wait = fields.long("asyncResponseTimeout")?.unwrap_or(0);
        if wait > WAIT_MS_MAX {
            return Err(CamundaError::invalid(format!(
                "The asynchronous response timeout cannot be set to a value greater than {WAIT_MS_MAX} milliseconds"
            )));
        }
        let worker_id = worker(fields)?;
        let max_tasks = fields.int("maxTasks")?.unwrap_or(0);
        let Ok(max_tasks) = u32::try_from(max_tasks) else {
            return Err(CamundaError::engine("maxResults is not greater than or equal to 0"));
        };
        if max_tasks > limits.poll_tasks_max {
            let most = limits.poll_tasks_max;
            return Err(CamundaError::invalid(format!(
                "maxTasks is {max_tasks}; at most {most} are handed out at once"
            )));
        }
        let given = fields.objects("topics")?;
        if given.len() > TOPICS_MAX {
            let message =
                format!("there are {} topics; at most {TOPICS_MAX} are taken in one request", given.len());
            return Err(CamundaError::invalid(message));
        }
        let topics = given.iter().map(|topic| topic_of(topic, tenant)).collect::<Result<_, _>>()?;
        Ok(Self {
            worker_id,
            max_tasks,
            use_priority: fields.flag("usePriority")?,
            newest_first,
            wait: Duration::from_millis(wait.max(0).unsigned_abs()),
            topics,
        })
    }

    /// Whether an order was asked for; else tasks come by turn.
    pub(super) fn is_ordered(&self) -> bool {
        self.newest_first.is_some()
    }

    /// Whether an order was asked for that begins with the priority. If none was, the turn has the priority in it.
    pub(super) fn by_priority(&self) -> bool {
        self.use_priority && self.is_ordered()
    }

    /// Whether it wants whatever its topics have: the desk knows no filters.
    pub(super) fn is_plain(&self) -> bool {
        // The desk would take a topic with a star for a pattern; here it is a name like any other.
        let named = !self.topics.keys().any(|topic| topic.contains('*'));
        named && self.topics.values().all(|topic| topic.filter == Filter::default())
    }
}

/// The worker's name, which every report must have.
pub(super) fn worker(fields: &Fields) -> Result<String, CamundaError> {
    let worker = fields.text("workerId")?.ok_or_else(|| CamundaError::null("workerId"))?;
    bounded("workerId", &worker)?;
    Ok(worker)
}

/// A lock within bounds.
pub(super) fn lock_ms(given: i64, word: &str, make: fn(String) -> CamundaError) -> Result<i64, CamundaError> {
    if given <= 0 {
        return Err(make(format!("{word} is not greater than 0")));
    }
    Ok(given.min(LOCK_MS_MAX))
}

fn bounded(name: &str, text: &str) -> Result<(), CamundaError> {
    if text.chars().count() > NAME_CHARACTERS_MAX {
        return Err(CamundaError::invalid(format!("{name} has more than {NAME_CHARACTERS_MAX} characters")));
    }
    Ok(())
}

fn sorting(fields: &Fields) -> Result<Option<bool>, CamundaError> {
    let mut newest_first = None;
    for sort in fields.objects("sorting")? {
        let by = sort.text("sortBy")?;
        if by.as_deref() != Some("createTime") {
            let shown = by.unwrap_or_else(|| "null".into());
            return Err(CamundaError::invalid(format!("Cannot set query sortBy parameter to value {shown}")));
        }
        newest_first = match sort.text("sortOrder")?.as_deref() {
            Some("asc") => Some(false),
            Some("desc") => Some(true),
            other => {
                let shown = other.unwrap_or("null");
                return Err(CamundaError::invalid(format!(
                    "Cannot set query sortOrder parameter to value {shown}"
                )));
            }
        };
    }
    Ok(newest_first)
}

fn topic_of(topic: &Fields, tenant: &TenantId) -> Result<(String, Topic), CamundaError> {
    let name = topic.text("topicName")?.ok_or_else(|| CamundaError::null("topicName"))?;
    bounded("topicName", &name)?;
    let lock_ms = lock_ms(topic.long("lockDuration")?.unwrap_or(0), "lockTime", CamundaError::engine)?;
    let wish = Wish {
        names: topic.texts("variables")?,
        local: topic.flag("localVariables")?,
        deserialize: topic.flag("deserializeValues")?,
    };
    let properties = topic.flag("includeExtensionProperties")?;
    Ok((name, Topic { lock_ms, wish, filter: filter_of(topic, tenant)?, properties }))
}

fn filter_of(topic: &Fields, tenant: &TenantId) -> Result<Filter, CamundaError> {
    let ours = tenant_id(tenant);
    let foreign = match topic.filled("tenantIdIn")? {
        Some(tenants) => !ours.is_some_and(|ours| tenants.iter().any(|tenant| tenant == ours)),
        None => topic.flag("withoutTenantId")? && ours.is_some(),
    };
    Ok(Filter {
        business_key: topic.text("businessKey")?,
        definition_ids: both(topic.text("processDefinitionId")?, topic.filled("processDefinitionIdIn")?),
        workflow_keys: both(topic.text("processDefinitionKey")?, topic.filled("processDefinitionKeyIn")?),
        variables: topic.object("processVariables")?.unwrap_or_default().0.into_iter().collect(),
        version_tag: topic.text("processDefinitionVersionTag")?,
        none: foreign,
    })
}

/// One name and a list of names, which must both hold.
fn both(one: Option<String>, many: Option<Vec<String>>) -> Option<Vec<String>> {
    match (one, many) {
        (None, many) => many,
        (Some(one), None) => Some(vec![one]),
        (Some(one), Some(many)) => Some(many.into_iter().filter(|name| *name == one).collect()),
    }
}
