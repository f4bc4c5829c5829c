// Combine is Apple's; OpenCombine is a reimplementation. Under this name files with `import Combine` compile unchanged:
// `ObservableObject`, `@Published`, `sink`, `receive(on: DispatchQueue.main)` and the rest.
@_exported import OpenCombineShim
