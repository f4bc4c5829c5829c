import CoreBluetooth

extension WorldQueue: VirtualQueue {}
