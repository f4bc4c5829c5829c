import Foundation

@_silgen_name("malloc_info")
private func writeHeapStatistics(_ options: Int32, _ stream: UnsafeMutablePointer<FILE>) -> Int32

/// How many octets of the heap are in use. The rest of the process's memory belongs to the allocator, for reuse.
func octetsOfHeapInUse() -> Int {
    var text: UnsafeMutablePointer<CChar>?
    var length = 0
    guard let stream = open_memstream(&text, &length) else { return 0 }
    _ = writeHeapStatistics(0, stream)
    fclose(stream)
    defer { free(text) }
    let statistics = text.map { String(cString: $0) } ?? ""
    /// A total over all arenas: these are the last elements of their kind.
    func total(_ element: String) -> Int {
        let last = statistics.components(separatedBy: "<\(element)").last ?? ""
        return last.components(separatedBy: "size=\"").dropFirst().first.flatMap { Int($0.prefix { $0 != "\"" }) } ?? 0
    }
    return total("system type=\"current\"") + total("total type=\"mmap\"") - total("total type=\"fast\"")
        - total("total type=\"rest\"")
}
