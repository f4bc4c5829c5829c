extension Host {
    mutating func holdReceiving(of link: LinkIdentifier) {}
    mutating func resumeReceiving(of link: LinkIdentifier) {}
}
