//! Table 3 of the publication: mean return on the nominal body with its standard error over seeds, in PyBullet.

/// Kind of policy, and mean and standard error for hopper, walker, ant and half-cheetah.
const TABLE: [(&str, [(f64, f64); 4]); 7] = [
    ("sac-0.01", [(2260.0, 39.0), (1735.0, 15.0), (1737.0, 96.0), (2224.0, 25.0)]),
    ("sac-0.033", [(2040.0, 65.0), (1801.0, 34.0), (2023.0, 88.0), (2233.0, 21.0)]),
    ("sac-0.05", [(2250.0, 49.0), (1781.0, 8.0), (2191.0, 46.0), (2360.0, 25.0)]),
    ("sac-0.1", [(1949.0, 58.0), (1506.0, 34.0), (2054.0, 30.0), (1945.0, 62.0)]),
    ("sac-0.2", [(2208.0, 15.0), (916.0, 28.0), (905.0, 10.0), (808.0, 6.0)]),
    ("sac-0.33", [(1621.0, 38.0), (704.0, 3.0), (651.0, 5.0), (751.0, 7.0)]),
    ("td3", [(2186.0, 13.0), (1816.0, 18.0), (2723.0, 12.0), (2253.0, 12.0)]),
];

/// Mean and standard error of a kind of policy in an environment.
pub fn nominal_return(kind: &str, env: &str) -> Option<(f64, f64)> {
    let column = offnominal_worlds::env::body::BODIES.iter().position(|b| *b == env)?;
    TABLE.iter().find(|row| row.0 == kind).map(|row| row.1[column])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_in_the_order_of_the_bodies() {
        assert_eq!(nominal_return("td3", "ant"), Some((2723.0, 12.0)));
        assert_eq!(nominal_return("sac-0.05", "half-cheetah-m"), Some((2360.0, 25.0)));
        assert_eq!((nominal_return("tqc", "ant"), nominal_return("td3", "cartpole")), (None, None));
    }
}
