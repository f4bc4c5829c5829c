import Foundation

/// A request in Foundation's part that is a module of its own on Linux.
struct FirmwareServer {
    let url: URL

    func download(_ completion: @escaping (Data?) -> Void) {
        let task = URLSession.shared.dataTask(with: url) { data, response, _ in
            completion((response as? HTTPURLResponse)?.statusCode == 200 ? data : nil)
        }
        task.resume()
    }
}
