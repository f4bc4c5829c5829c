import FuzzDriver

/// Called by libFuzzer first.
@c(LLVMFuzzerInitialize) public func initialize(
    _ argc: UnsafeMutablePointer<CInt>, _ argv: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>>>
) -> CInt { beginFuzzing(FuzzTarget.self) }
