#!/usr/bin/env bash
# Makes sure that Apache Kafka is here, which the tests of events start as a broker of their own. It lives in a folder
# of its own under target/ (50 MB, half a minute the first time), so nothing of the system is changed.
#
# It comes as a library with what that needs, by Maven; Java 17 or newer runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

version=4.1.1
folder=target/tools/kafka

if [ -e "$folder/libs/kafka_2.13-$version.jar" ]; then
  exit 0
fi
java=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
if [ "${java:-0}" -lt 17 ] || ! command -v mvn > /dev/null; then
  echo "Java or Maven is missing or too old: Kafka $version needs Java 17 or newer, and mvn brings it." >&2
  exit 1
fi
rm -rf "$folder" "$folder.part"
mkdir -p "$folder.part"
# The last one has the broker say on its standard error what goes wrong.
cat > "$folder.part/pom.xml" << END
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>stepwell</groupId>
  <artifactId>broker</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>$version</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
END
echo "fetching Kafka $version, which takes half a minute …" >&2
(cd "$folder.part" &&
  mvn --batch-mode --quiet dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=libs)
mv "$folder.part" "$folder"
