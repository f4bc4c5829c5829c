import CoreBluetooth

setlinebuf(stdout)
let sensor = HeartRateSensor()
let termination = Termination { sensor.stop() }
RunLoop.main.run()
