// The system's C library, whichever it is: the one place that names it. Files that call the system import this module.
#if canImport(Glibc)
    @_exported import Glibc
#elseif canImport(Musl)
    @_exported import Musl
#else
    #error("this package talks to the kernel through Glibc or Musl; see Documentation/Linux.md, \"Which systems\"")
#endif
