//! The file of k6's `--summary-export`.

use serde_json::{Value, json};

use crate::summary::{everything, plan};

fn export() -> Value {
    serde_json::from_str(&view::json::summary_export(&everything(), &plan(), None)).expect("the export is JSON")
}

#[test]
fn metrics_are_flattened() {
    let export = export();
    let metrics = &export["metrics"];
    assert_eq!(metrics["orders"], json!({ "count": 1_234_567, "rate": 1_234_567.0 / 3.0 }));
    assert_eq!(metrics["orders{shop:b}"]["count"], 7);
    assert_eq!(metrics["vus"], json!({ "value": 2, "min": 1, "max": 2 }));
    assert_eq!(metrics["cart_full"], json!({ "value": 1.0 / 3.0, "passes": 1, "fails": 2 }));
    let trend = metrics["basket"].as_object().unwrap();
    assert_eq!(trend.keys().collect::<Vec<_>>(), ["avg", "min", "med", "max", "p(90)", "p(95)"]);
    assert_eq!(trend["avg"], 1250.15375);
    assert_eq!(trend["max"], 2500.3075);
    // Metrics that the compact summary leaves out are in the file.
    assert_eq!(metrics["http_req_blocked"]["med"], 0.1);
    assert_eq!(metrics["http_req_duration{expected_response:true}"]["max"], 5.36);
}

#[test]
fn thresholds_say_whether_they_were_crossed() {
    let export = export();
    let metrics = &export["metrics"];
    assert_eq!(metrics["http_req_duration"]["thresholds"], json!({ "p(95)<500": false, "avg<0.001": true }));
    assert_eq!(metrics["http_req_duration{name:login,status:200}"]["thresholds"], json!({ "p(90)<500": false }));
    assert_eq!(metrics["never_seen"]["thresholds"], json!({ "p(95)<1": false }));
    assert_eq!(metrics["orders"].get("thresholds"), None);
}

#[test]
fn groups_and_checks_are_objects_by_name() {
    let export = export();
    let root = &export["root_group"];
    assert_eq!((&root["name"], &root["path"]), (&json!(""), &json!("")));
    assert_eq!(root["id"], "d41d8cd98f00b204e9800998ecf8427e");
    let inner = &root["groups"]["outer"]["groups"]["inner"];
    assert_eq!(inner["path"], "::outer::inner");
    assert_eq!(inner["id"], "b6c425bc7b9e3d21a2d56ce7a6de3614");
    assert_eq!(
        inner["checks"]["even"],
        json!({
            "name": "even", "path": "::outer::inner::even", "id": "c6ddd186918a2c00e89f0cdb71b0a345",
            "passes": 1, "fails": 2
        })
    );
    assert_eq!(root["checks"]["always"]["id"], "c7a689de5e72a0785ecca1a3974f3a5e");
    assert_eq!(root["groups"]["outer"]["checks"]["is big"]["fails"], 3);
    // As in k6, neither options nor state.
    assert_eq!(export.as_object().unwrap().len(), 2);
}
