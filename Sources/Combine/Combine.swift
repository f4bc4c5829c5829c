// Combine is Apple's; OpenCombine is the same written anew. Under this name files that say `import Combine` compile as they
// are: `ObservableObject`, `@Published`, `sink`, `receive(on: DispatchQueue.main)` and the rest.
@_exported import OpenCombineShim
