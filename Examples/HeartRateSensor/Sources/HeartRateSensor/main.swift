import CoreBluetooth

setlinebuf(stdout)
let sensor = HeartRateSensor()
RunLoop.main.run()
