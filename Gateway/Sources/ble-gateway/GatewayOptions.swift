import ArgumentParser
import Foundation
import GatewayConfiguration
import GatewayPipeline

/// The options that determine the configuration.
struct GatewayOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file, in YAML.", valueName: "file"), completion: .file())
    var config: String?

    @Option(help: ArgumentHelp("The broker: mqtt://HOST[:PORT], or mqtts:// for TLS.", valueName: "url"))
    var broker: String?

    @Option(help: ArgumentHelp("The name of this gateway; defaults to the machine's.", valueName: "name"))
    var gateway: String?

    /// The configuration in the file, overridden by the options.
    func configuration() throws -> Configuration {
        let host = ProcessInfo.processInfo.hostName.split(separator: ".").first.map(String.init) ?? ""
        let name = gateway ?? (Topics.isLevel(host) ? host : "gateway")
        var configuration = Configuration(gateway: name)
        if let config {
            guard let yaml = Self.contents(of: config) else {
                throw ValidationError("\(config) cannot be read, is not text, or is longer than 1 MiB")
            }
            do throws(ConfigurationError) {
                configuration = try Configuration(yaml: yaml, gateway: name, contents: Self.contents(of:))
            } catch {
                throw ValidationError("\(config): \(error)")
            }
        }
        if let gateway {
            guard Topics.isLevel(gateway) else { throw ValidationError("--gateway must be a name without / + # $") }
            configuration.topics.gateway = gateway
        }
        if let broker {
            guard let settings = BrokerSettings(url: broker) else {
                throw ValidationError("--broker must be mqtt://HOST, mqtt://HOST:PORT or mqtts://…")
            }
            configuration.broker = settings
        }
        return configuration
    }

    /// The text of a file; nil if it cannot be read, is not text, or is longer than 1 MiB. The limit matters for a
    /// device file, which may never end.
    static func contents(of path: String) -> String? {
        let limit = 1 << 20
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: limit + 1),
            data.count <= limit
        else { return nil }
        return String(validating: data, as: UTF8.self)
    }
}
