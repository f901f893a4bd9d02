//! What is said of each verdict.

use super::*;

fn read(verdict: &str) -> Repeats {
    Repeats::read(
        format!(r#"{{"verdict": {verdict:?}, "found": "o3: 1 and 2", "secs": 0.25, "offered": [], "alike": "so-far"}}"#)
            .as_bytes(),
    )
    .unwrap()
}

#[test]
fn a_fresh_environment_is_advised_where_it_helps_and_nothing_where_none_is_needed() {
    assert_eq!(read("always").advice("X").unwrap(), None);
    assert!(read("always").alike.remark().contains("count as one") && Alike::No.remark().is_empty());
    let said = read("fresh").advice("X").unwrap().unwrap();
    assert!(said.contains("o3: 1 and 2") && said.contains("250 ms"), "{said}");
    let error = read("never").advice("X").unwrap_err().to_string();
    assert!(error.contains("o3: 1 and 2") && error.contains("check=false"), "{error}");
}
