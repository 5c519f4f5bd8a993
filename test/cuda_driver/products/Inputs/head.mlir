module attributes {nap.products = "cublaslt"} {
