//! What runs it all: campaign, store, report, and the offnominal binary.
