// Re-exports the system's C library. No other file names it; files that make system calls import this module.
#if canImport(Glibc)
@_exported import Glibc
#elseif canImport(Musl)
@_exported import Musl
#else
#error("this package talks to the kernel through Glibc or Musl; see Documentation/Linux.md, \"Which systems\"")
#endif
