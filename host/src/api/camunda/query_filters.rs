//! Camunda's filters, orders and pages, read from a query string or a body.

use serde_json::Value;

use super::body::Fields;
use super::error::CamundaError;
use super::view::{priority, tenant_id};
use crate::domain::{TenantId, Timestamp};
use crate::engine::port::query::{SORTS_MAX, Sort, TaskQuery};

/// What a list can be ordered by.
const ORDERS: [&str; 8] = [
    "id",
    "lockExpirationTime",
    "processInstanceId",
    "processDefinitionId",
    "processDefinitionKey",
    "tenantId",
    "taskPriority",
    "createTime",
];
/// Ids and names in one filter.
const LIST_MAX: usize = 10_000;

/// A question about tasks.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) query: TaskQuery,
    /// All of them must hold.
    pub(super) variables: Vec<Condition>,
    /// It asks for another tenant's: there are none.
    pub(super) none: bool,
}

/// A condition on a variable.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) name: String,
    pub(super) operator: String,
    pub(super) value: Value,
    pub(super) ignore_name_case: bool,
    pub(super) ignore_value_case: bool,
}

/// Reads the filters. In a query string lists are divided by commas, and the order stands beside them.
pub(super) fn read(
    fields: &Fields,
    from_url: bool,
    tenant: &TenantId,
    now: Timestamp,
) -> Result<Question, CamundaError> {
    let list = |name: &str| listed(fields, name, from_url);
    // What is no id matches nothing.
    let ids = |one: &str, many: &str| -> Result<Option<Vec<uuid::Uuid>>, CamundaError> {
        let both = narrowed(fields.text(one)?, list(many)?);
        Ok(both.map(|ids| ids.iter().filter_map(|id| id.parse().ok()).collect()))
    };
    let time = |name: &str| fields.text(name)?.map(|text| moment(name, &text)).transpose();
    let text = |name: &str| fields.text(name);
    let execution = text("executionId")?.map(|id| id.parse::<uuid::Uuid>().unwrap_or_default());
    let query = TaskQuery {
        now,
        ids: ids("externalTaskId", "externalTaskIdIn")?
            .map(|ids| ids.into_iter().map(crate::domain::TaskId).collect()),
        task_type: text("topicName")?,
        worker_id: text("workerId")?,
        locked: fields.flag("locked")?,
        not_locked: fields.flag("notLocked")?,
        retries_left: fields.flag("withRetriesLeft")?,
        no_retries_left: fields.flag("noRetriesLeft")?,
        locked_after: time("lockExpirationAfter")?,
        locked_before: time("lockExpirationBefore")?,
        step_ids: narrowed(text("activityId")?, list("activityIdIn")?),
        step_execution_id: execution.map(crate::domain::StepExecutionId),
        instance_ids: ids("processInstanceId", "processInstanceIdIn")?
            .map(|ids| ids.into_iter().map(crate::domain::InstanceId).collect()),
        definition_ids: text("processDefinitionId")?.map(|id| vec![id]),
        workflow_keys: narrowed(text("processDefinitionKey")?, list("processDefinitionKeyIn")?),
        workflow_name: text("processDefinitionName")?,
        workflow_name_like: text("processDefinitionNameLike")?,
        active: fields.flag("active")?,
        suspended: fields.flag("suspended")?,
        // Camunda's highest is Stepwell's lowest.
        priority_max: fields.long("priorityHigherThanOrEquals")?.map(priority),
        priority_min: fields.long("priorityLowerThanOrEquals")?.map(priority),
        sorts: sorts(fields, from_url)?,
        ..TaskQuery::default()
    };
    let ours = tenant_id(tenant);
    let none = list("tenantIdIn")?
        .is_some_and(|tenants| !ours.is_some_and(|ours| tenants.iter().any(|t| t == ours)));
    Ok(Question { query, variables: conditions(fields, "processVariables", from_url)?, none })
}

/// A list to choose by: divided by commas in a query string. An empty one chooses nothing out.
pub(super) fn listed(
    fields: &Fields,
    name: &str,
    from_url: bool,
) -> Result<Option<Vec<String>>, CamundaError> {
    let list: Option<Vec<String>> = if from_url {
        let text = fields.text(name)?;
        text.map(|text| text.split(',').map(|part| part.trim().to_owned()).collect())
    } else {
        fields.filled(name)?
    };
    if let Some(count) = list.as_ref().map(Vec::len).filter(|count| *count > LIST_MAX) {
        let message = format!("'{name}' has {count} entries; the limit is {LIST_MAX}");
        return Err(CamundaError::invalid(message));
    }
    Ok(list)
}

fn narrowed(one: Option<String>, many: Option<Vec<String>>) -> Option<Vec<String>> {
    match (one, many) {
        (None, many) => many,
        (Some(one), None) => Some(vec![one]),
        (Some(one), Some(many)) => Some(many.into_iter().filter(|name| *name == one).collect()),
    }
}

fn moment(name: &str, text: &str) -> Result<Timestamp, CamundaError> {
    // In a URL, the plus sign of a zone is often not encoded, and arrives as a space.
    let text = text.replace(' ', "+");
    chrono::DateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%.f%z")
        .or_else(|_| chrono::DateTime::parse_from_rfc3339(&text))
        .map(|at| Timestamp::from_millis(at.timestamp_millis()))
        .map_err(|_| {
            CamundaError::invalid(format!(
                "Cannot set query parameter '{name}' to value '{text}': Cannot convert value \"{text}\" to java type java.util.Date"
            ))
        })
}

fn sorts(fields: &Fields, from_url: bool) -> Result<Vec<Sort>, CamundaError> {
    let pair = |sort: &Fields| match (sort.text("sortBy")?, sort.text("sortOrder")?) {
        (None, None) => Ok(None),
        (Some(by), Some(order)) => Ok(Some((by, order))),
        _ => Err(single()),
    };
    let mut pairs = Vec::from_iter(pair(fields)?);
    if !from_url {
        for sort in fields.objects("sorting")? {
            pairs.push(pair(&sort)?.ok_or_else(single)?);
        }
    }
    let sort = |(by, order): (String, String)| {
        let by = ORDERS.into_iter().find(|known| *known == by).ok_or_else(|| unset("sortBy", &by))?;
        match order.as_str() {
            "asc" => Ok(Sort { by, desc: false }),
            "desc" => Ok(Sort { by, desc: true }),
            _ => Err(unset("sortOrder", &order)),
        }
    };
    if pairs.len() > SORTS_MAX {
        let message = format!("there are {} sortings; at most {SORTS_MAX} are taken", pairs.len());
        return Err(CamundaError::invalid(message));
    }
    pairs.into_iter().map(sort).collect()
}

fn unset(name: &str, value: &str) -> CamundaError {
    CamundaError::invalid(format!("Cannot set query parameter '{name}' to value '{value}'"))
}

fn single() -> CamundaError {
    CamundaError::invalid("Only a single sorting parameter specified. sortBy and sortOrder required")
}

/// Conditions on variables, in a field of either form.
pub(super) fn conditions(
    fields: &Fields,
    field: &str,
    from_url: bool,
) -> Result<Vec<Condition>, CamundaError> {
    let (names, values) = (fields.flag("variableNamesIgnoreCase")?, fields.flag("variableValuesIgnoreCase")?);
    let make = |name: String, operator: String, value: Value| {
        if !["eq", "neq", "gt", "gteq", "lt", "lteq", "like", "notLike"].contains(&operator.as_str()) {
            let message = format!("Invalid process variable comparator specified: {operator}");
            return Err(CamundaError::invalid(message));
        }
        Ok(Condition { name, operator, value, ignore_name_case: names, ignore_value_case: values })
    };
    if !from_url {
        let given = fields.objects(field)?;
        let condition = |given: &Fields| {
            let name = given.text("name")?.unwrap_or_default();
            make(
                name,
                given.text("operator")?.unwrap_or_default(),
                given.0.get("value").cloned().unwrap_or_default(),
            )
        };
        return given.iter().map(condition).collect();
    }
    let Some(text) = fields.text(field)? else { return Ok(Vec::new()) };
    text.split(',')
        .map(|part| {
            let parts: Vec<&str> = part.splitn(3, '_').collect();
            let [name, operator, value] = parts[..] else {
                let message = format!(
                    "Cannot set query parameter '{field}' to value '{text}': \
                     variable query parameter has to have format KEY_OPERATOR_VALUE."
                );
                return Err(CamundaError::invalid(message));
            };
            // What reads as JSON is a number or a flag; all else is text.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            make(name.to_owned(), operator.to_owned(), value)
        })
        .collect()
}

impl Condition {
    /// Whether a context has it.
    pub(super) fn holds(&self, context: &Value) -> bool {
        let named = |name: &str| {
            name == self.name || (self.ignore_name_case && name.to_lowercase() == self.name.to_lowercase())
        };
        context.as_object().into_iter().flatten().any(|(name, value)| named(name) && self.compares(value))
    }

    fn compares(&self, value: &Value) -> bool {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let fold = |value: &Value| match value.as_str() {
            Some(text) if self.ignore_value_case => Value::String(text.to_lowercase()),
            _ => value.clone(),
        };
        let (value, wanted) = (fold(value), fold(&self.value));
        let order = match (value.as_f64(), wanted.as_f64(), value.as_str(), wanted.as_str()) {
            (Some(one), Some(other), ..) => one.partial_cmp(&other),
            (_, _, Some(one), Some(other)) => Some(one.cmp(other)),
            _ => (value == wanted).then_some(Equal),
        };
        let like = || match (value.as_str(), wanted.as_str()) {
            (Some(text), Some(pattern)) => like(text, pattern),
            _ => false,
        };
        match self.operator.as_str() {
            "eq" => order == Some(Equal),
            "neq" => order != Some(Equal),
            "gt" => order == Some(Greater),
            "gteq" => matches!(order, Some(Greater | Equal)),
            "lt" => order == Some(Less),
            "lteq" => matches!(order, Some(Less | Equal)),
            "like" => like(),
            _ => !like(),
        }
    }
}

/// SQL's `like` with `%` alone.
fn like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('%');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn a_pattern_has_gaps() {
        for (text, pattern) in
            [("abc", "abc"), ("abc", "a%"), ("abc", "%c"), ("abc", "%b%"), ("abc", "a%c"), ("", "%")]
        {
            assert!(like(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in [("abc", "ab"), ("abc", "b%"), ("abc", "%b"), ("abc", "a%b%d"), ("a", "a%a")] {
            assert!(!like(text, pattern), "{text} {pattern}");
        }
    }
}
