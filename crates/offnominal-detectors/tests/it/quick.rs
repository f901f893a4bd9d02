//! Recipes that are fitted in a moment, for tests over the whole catalogue.

use serde_json::{Value, json};

/// Parameters that make fitting fast; the laws hold for any.
pub fn quick(id: &str) -> Value {
    match id {
        "isolation-forest" => json!({"trees": 30}),
        "mlp-dm" => json!({"hidden": [16, 8], "training": {"epochs": 5}}),
        "pe-dm" => json!({"hidden": [16, 8], "members": 2, "training": {"epochs": 5}}),
        "ensemble-dm" | "multistep-dm" | "residual-views" | "residual-window" => {
            json!({"hidden": [16, 8], "training": {"epochs": 5}})
        }
        "flow-density" => {
            let epochs = json!({"epochs": 5});
            json!({"hidden": [16, 8], "training": epochs, "units": 8, "flow_training": epochs})
        }
        "lstm-dm" => json!({"hidden": 8, "head": [8], "training": {"epochs": 3}}),
        "riqn" => json!({"hidden": 8, "cosines": 8, "quantiles": 8, "training": {"epochs": 3}}),
        "cusum" | "e-process" | "running-mean" => json!({"inner": inner("ensemble-dm")}),
        "rnd" => json!({"training": {"epochs": 20}}),
        "panel" => {
            let chart =
                |reference: &str| json!({"id": "mewma", "statistic": "farthest", "reference": reference});
            json!({"inner": [[chart("offsets"), chart("beginning")], inner("residual-views")]})
        }
        "fusion" => json!({"inner": ["knn-transition", inner("residual-window")]}),
        _ => json!({}),
    }
}

/// A detector inside another, made fast.
fn inner(id: &str) -> Value {
    let mut params = quick(id);
    params["id"] = json!(id);
    params
}
