"""The accounts of brokers with access control: read from every broker of a cluster, changed on all of them."""
